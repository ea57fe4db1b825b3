import type { Got } from "@/api/client";
import type { components } from "@/api/schema";
import { isTrouble } from "../supervisor/events/kinds";

export type Happened = Got<"/api/v1/events">["events"][number];
type EventKind = components["schemas"]["EventKind"];

export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

const HANDOFFS: EventKind[] = ["handoff-asked", "generation-end-fixed", "generation-published"];
const FAILURES: EventKind[] = [
  "generation-discarded",
  "replicas-diverged",
  "gap-declared",
  "stream-silent",
  "state-changed",
];
const CHANGES: EventKind[] = [
  "supervisor-created",
  "spec-stored",
  "supervisor-suspended",
  "supervisor-resumed",
  "supervisor-terminated",
  "offsets-reset",
];
/** The types of the hour; the start and end of each task would be most of all events. */
export const KINDS: EventKind[] = [...HANDOFFS, ...FAILURES, ...CHANGES];

export type Sort = "handoff" | "failure" | "change";
export type Minute = {
  /** When it begins, in milliseconds. */
  at: number;
  events: Happened[];
  counts: Record<Sort, number>;
};

/** What an event is to the one who looks for the minute in which something happened. */
export function sortOf({ type, detail }: Happened): Sort | null {
  if (isTrouble(type, detail)) {
    return "failure";
  }
  if ((CHANGES as string[]).includes(type)) {
    return "change";
  }
  return (HANDOFFS as string[]).includes(type) ? "handoff" : null;
}

/** Divides events into the sixty minutes before `now`, oldest first; the last one has just begun. */
export function minutesOf(events: readonly Happened[], now: number): Minute[] {
  const last = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const minutes = Array.from({ length: HOUR_MS / MINUTE_MS }, (_, index) => ({
    at: last - HOUR_MS + (index + 1) * MINUTE_MS,
    events: [] as Happened[],
    counts: { handoff: 0, failure: 0, change: 0 },
  }));
  const first = minutes[0]?.at ?? last;
  for (const event of events) {
    const sort = sortOf(event);
    const minute = minutes[Math.floor((Date.parse(event.at) - first) / MINUTE_MS)];
    if (sort !== null && minute !== undefined) {
      minute.events.push(event);
      minute.counts[sort] += 1;
    }
  }
  return minutes;
}

/** Says what a minute has: "2 failures, 3 handoffs". */
export function wordsOf({ counts }: Minute): string {
  const words: [Sort, string][] = [
    ["failure", "failure"],
    ["change", "change"],
    ["handoff", "handoff"],
  ];
  return words
    .filter(([sort]) => counts[sort] > 0)
    .map(([sort, noun]) => `${counts[sort]} ${noun}${counts[sort] === 1 ? "" : "s"}`)
    .join(", ");
}
