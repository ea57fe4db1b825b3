import type { Got } from "@/api/client";

export type RangesPage = Got<"/api/v1/supervisors/{supervisor_id}/generations">;
export type Range = RangesPage["generations"][number];
export type Attempt = Range["attempts"][number];

/** The steps of a range, in their order. */
export const PHASES = ["reading", "pausing", "finishing", "publishing"] as const;
export type Phase = (typeof PHASES)[number];
/** A step with its begin and its end, in ms. */
export type Step = { phase: Phase; from: number; to: number };

/** A range is drawn from its opening to its end, or to now. */
export function extentOf(range: Range, now: number): [number, number] {
  const from = Date.parse(range.openedAt);
  return [from, Math.max(from, range.endedAt === null ? now : Date.parse(range.endedAt))];
}

/**
 * Divides a range into its steps without gaps.  Their times are of several clocks: none of the steps
 * is shorter than nothing.  A step that was not needed is left out.
 */
export function stepsOf(range: Range, now: number): Step[] {
  const [begin, end] = extentOf(range, now);
  const starts = [begin, ...[range.pausingAt, range.endFixedAt, range.firstFinishedAt].map(timeOf)];
  const steps: Step[] = [];
  let at = begin;
  PHASES.forEach((phase, index) => {
    if (starts[index] === null) {
      return;
    }
    const next = starts.slice(index + 1).find((start) => start !== null) ?? end;
    const to = Math.min(Math.max(next, at), end);
    if (to > at || index === 0) {
      steps.push({ phase, from: at, to });
    }
    at = to;
  });
  return steps;
}

/** What a range does now, or came to, in a word. */
export function wordOf(range: Range): string {
  if (range.state === "PUBLISHING") {
    return range.firstFinishedAt === null ? "finishing" : "publishing";
  }
  return range.state.toLowerCase();
}

/** Whether it was given up, or a task of it failed, or a replica came to something else. */
export function isFailed({ state, attempts, diverged }: Range): boolean {
  return (
    state === "DISCARDED" ||
    diverged.length > 0 ||
    attempts.some(({ status }) => status === "FAILED")
  );
}

function timeOf(at: string | null): number | null {
  return at === null ? null : Date.parse(at);
}
