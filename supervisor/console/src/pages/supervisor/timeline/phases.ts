import type { Got } from "@/api/client";

export type RangesPage = Got<"/api/v1/supervisors/{supervisor_id}/generations">;
export type Range = RangesPage["generations"][number];
export type Attempt = Range["attempts"][number];

/** The steps of a range, in their order; while it waits, no task reads it. */
export const PHASES = ["waiting", "reading", "pausing", "finishing", "publishing"] as const;
const READ_PHASES = ["reading", "pausing", "finishing", "publishing"] as const;
/** A task that is there before has begun with its range. */
const START_MS = 1_000;
export type Phase = (typeof PHASES)[number];
/** A step with its begin and its end, in ms. */
export type Step = { phase: Phase; from: number; to: number };

/** A range is drawn from its opening to its end, or to now. */
export function extentOf(range: Range, now: number): [number, number] {
  const from = Date.parse(range.openedAt);
  return [from, Math.max(from, range.endedAt === null ? now : Date.parse(range.endedAt))];
}

/** Since when no task reads a range that should be read; null: a task does, or none is to. */
export function waitingSince({ state, openedAt, attempts }: Range): number | null {
  if (state !== "READING" || attempts.some(({ status }) => status === "RUNNING")) {
    return null;
  }
  return Math.max(
    ...[openedAt, ...attempts.map(({ endedAt }) => endedAt)].map((at) => timeOf(at) ?? 0),
  );
}

/** When the first task of a range began; null: none did, or none is on record any more. */
function firstBegan({ attempts }: Range): number | null {
  return attempts.length === 0
    ? null
    : Math.min(...attempts.map(({ startedAt }) => Date.parse(startedAt)));
}

/**
 * Divides a range into its steps without gaps.  Their times are of several clocks: none of the steps
 * is shorter than nothing.  A step that was not needed is left out; what is shorter than a second is no
 * wait for a task.
 */
export function stepsOf(range: Range, now: number): Step[] {
  const [begin, end] = extentOf(range, now);
  const starts = [begin, ...[range.pausingAt, range.endFixedAt, range.firstFinishedAt].map(timeOf)];
  const steps: Step[] = [];
  let at = begin;
  READ_PHASES.forEach((phase, index) => {
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
  return withWaits(range, steps);
}

/** Parts the reading from the time before the first task, and from that after the last one. */
function withWaits(range: Range, [reading, ...later]: Step[]): Step[] {
  if (reading === undefined) {
    return [];
  }
  const { from, to } = reading;
  const within = (at: number | null, none: number) => Math.min(Math.max(at ?? none, from), to);
  const began = within(firstBegan(range), from);
  const read = began - from < START_MS ? from : began;
  const left = Math.max(within(waitingSince(range), to), read);
  const parts: Step[] = [
    { phase: "waiting", from, to: read },
    { phase: "reading", from: read, to: left },
    { phase: "waiting", from: left, to },
  ];
  const long = parts.filter((part) => part.to > part.from);
  return [...(long.length > 0 ? long : [reading]), ...later];
}

/** What a range does now, or came to, in a word. */
export function wordOf(range: Range): string {
  if (range.state === "PUBLISHING") {
    return range.firstFinishedAt === null ? "finishing" : "publishing";
  }
  if (waitingSince(range) !== null) {
    // After a failure it may be the pause before the next try, with slots that are free.
    const hasFailed = range.attempts.some(({ status }) => status === "FAILED");
    return hasFailed ? "waits for a task" : "waits for a slot";
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
