import { isFailed, type Range } from "./phases";

/** Why a range ended, as far as it is counted. */
export type Cause = "time" | "rows" | "other";

export type Summary = {
  live: number;
  ended: number;
  failed: number;
  /** In ms; null: there is none yet. */
  gapP95: number | null;
  publishP95: number | null;
  causes: Record<Cause, number>;
};

const BY_TIME = /^(taskDuration|intermediateHandoffPeriod) of |^its period begins /;
const BY_ROWS = /^(maxTotalRows|maxRowsPerSegment) of /;

export function causeOf(handoffWhy: string): Cause {
  return BY_TIME.test(handoffWhy) ? "time" : BY_ROWS.test(handoffWhy) ? "rows" : "other";
}

/** Returns the value that a share of all values does not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)] ?? null;
}

/** From the fixed end to the table, in ms; null: it is not published. */
function publishMs({ durations: { finishing, publishing } }: Range): number | null {
  return finishing === null || publishing === null ? null : finishing + publishing;
}

export function summaryOf(ranges: readonly Range[]): Summary {
  const ended = ranges.filter(({ endedAt }) => endedAt !== null);
  const causes: Summary["causes"] = { time: 0, rows: 0, other: 0 };
  for (const { handoffWhy } of ended.filter((range) => range.handoffWhy !== "")) {
    causes[causeOf(handoffWhy)] += 1;
  }
  const known = (of: (range: Range) => number | null) =>
    ranges.map(of).filter((millis) => millis !== null);
  return {
    live: ranges.length - ended.length,
    ended: ended.length,
    failed: ranges.filter(isFailed).length,
    gapP95: percentile(
      known(({ durations }) => durations.pausing),
      0.95,
    ),
    publishP95: percentile(known(publishMs), 0.95),
    causes,
  };
}
