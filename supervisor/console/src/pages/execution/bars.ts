import { busyOf, type Stretch, stretchesOf } from "../supervisor/timeline/scale";
import type { Execution } from "./data";
import type { RunRow } from "./tree";

/** What a task run did in a span of time. */
export type BarKind = "queue" | "run" | "wait" | "retry" | "hold";
/** A span of time of a task run, in ms; `title`: in words. */
export type RunBar = { kind: BarKind; from: number; to: number; attempt: number | null };
export type Lane = { row: RunRow; bars: RunBar[] };
export type Chart = { lanes: Lane[]; stretches: Stretch[] };

/** The width of a chart in its own units; it is drawn as wide as its place is. */
export const CHART_WIDTH = 600;
const SHORTEST_MS = 1_000;

/** Places task runs on a time axis; long times in which nothing ran are folded. */
export function chartOf(execution: Execution, rows: readonly RunRow[], nowMs: number): Chart {
  const begin = Date.parse(execution.createdAt);
  const end = execution.endedAt === null ? nowMs : Date.parse(execution.endedAt);
  const window = [begin, Math.max(end, begin + SHORTEST_MS)] as const;
  const lanes = rows.map((row) => ({ row, bars: barsOf(row, window[1]) }));
  const busy = lanes.flatMap(({ bars }) =>
    bars.filter(({ kind }) => kind === "run").map(({ from, to }) => [from, to] as const),
  );
  return { lanes, stretches: stretchesOf(busyOf(busy, window), window, CHART_WIDTH) };
}

/** The spans of one task run until `endMs`, where it has not ended. */
export function barsOf({ run, hasInner }: RunRow, endMs: number): RunBar[] {
  const end = run.endedAt === null ? endMs : Date.parse(run.endedAt);
  const bars: RunBar[] = [];
  let before: number | null = null;
  for (const { number, submittedAt, beganAt, endedAt } of run.attempts) {
    const submitted = Date.parse(submittedAt);
    const over = endedAt === null ? end : Date.parse(endedAt);
    const began = beganAt === null ? over : Date.parse(beganAt);
    if (before !== null && submitted > before) {
      bars.push({ kind: "retry", from: before, to: submitted, attempt: null });
    }
    bars.push({ kind: "queue", from: submitted, to: began, attempt: number });
    if (beganAt !== null) {
      bars.push({ kind: "run", from: began, to: over, attempt: number });
    }
    before = endedAt === null ? null : over;
  }
  if (run.attempts.length === 0) {
    const kind = hasInner ? "hold" : "wait";
    return [{ kind, from: Date.parse(run.createdAt), to: end, attempt: null }];
  }
  if (before !== null && end > before) {
    const kind = run.state === "RETRYING" ? "retry" : "wait";
    bars.push({ kind, from: before, to: end, attempt: null });
  }
  return bars.filter(({ from, to }) => to >= from);
}
