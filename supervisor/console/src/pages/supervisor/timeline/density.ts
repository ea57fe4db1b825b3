import { isFailed, type Range } from "./phases";

/** More ranges than this are drawn as numbers per minute. */
export const DENSE_FROM = 2_000;
const MINUTE_MS = 60_000;

/** The ranges of one group that ended in one minute, or that live in it now. */
export type Minute = { at: number; ranges: number; failed: number };

/** Counts ranges by the minute of their end, oldest first. */
export function minutesOf(ranges: readonly Range[], now: number): Minute[] {
  const minutes = new Map<number, Minute>();
  for (const range of ranges) {
    const end = range.endedAt === null ? now : Date.parse(range.endedAt);
    const at = Math.floor(end / MINUTE_MS) * MINUTE_MS;
    const minute = minutes.get(at) ?? { at, ranges: 0, failed: 0 };
    minute.ranges += 1;
    minute.failed += isFailed(range) ? 1 : 0;
    minutes.set(at, minute);
  }
  return [...minutes.values()].sort((one, other) => one.at - other.at);
}
