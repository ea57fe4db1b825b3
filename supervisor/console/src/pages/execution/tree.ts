import type { Standing } from "@/components/flow/Graph";
import { counted } from "@/text/numbers";
import type { TaskRun } from "./data";

/** A task run in its place: how deep inside of others it is, and its name with its item. */
export type RunRow = { run: TaskRun; depth: number; label: string; hasInner: boolean };

/** Task runs as a tree, each below the one that it is inside of, in the order of their beginning. */
export function treeOf(runs: readonly TaskRun[]): RunRow[] {
  const inside = new Map<string | null, TaskRun[]>();
  const ids = new Set(runs.map(({ id }) => id));
  for (const run of runs) {
    const parent = run.parent !== null && ids.has(run.parent) ? run.parent : null;
    inside.set(parent, [...(inside.get(parent) ?? []), run]);
  }
  const rows: RunRow[] = [];
  const add = (parent: string | null, depth: number) => {
    for (const run of byItem(inside.get(parent) ?? [])) {
      rows.push({ run, depth, label: labelOf(run), hasInner: inside.has(run.id) });
      add(run.id, depth + 1);
    }
  };
  add(null, 0);
  return rows;
}

/** The runs of one item stay together. */
function byItem(runs: readonly TaskRun[]): TaskRun[] {
  return [...runs].sort((one, other) => (one.item ?? -1) - (other.item ?? -1));
}

/** The name of a step, with the number of its item. */
export function labelOf({ step, item }: TaskRun): string {
  return item === null ? step : `${step} [${item}]`;
}

/** The states of a step's task runs: the first one that any of them has stands for all. */
const WORST = [
  "FAILED",
  "RETRYING",
  "KILLING",
  "RUNNING",
  "WAITING",
  "SUBMITTED",
  "CREATED",
  "KILLED",
  "SUCCESS",
  "SKIPPED",
];
const DONE = ["SUCCESS", "SKIPPED"];

/** Name of a step -> what has become of its task runs. */
export function standingsOf(runs: readonly TaskRun[]): Record<string, Standing> {
  const byStep = new Map<string, TaskRun[]>();
  for (const run of runs) {
    byStep.set(run.step, [...(byStep.get(run.step) ?? []), run]);
  }
  return Object.fromEntries([...byStep].map(([step, own]) => [step, standingOf(own)]));
}

function standingOf(runs: readonly TaskRun[]): Standing {
  const worst = [...runs].sort((one, other) => rankOf(one.state) - rankOf(other.state))[0];
  const done = runs.filter(({ state }) => DONE.includes(state)).length;
  return {
    state: worst?.state ?? "",
    run: worst?.id ?? "",
    note: runs.length > 1 ? `${done} of ${counted(runs.length, "run")} done` : "",
  };
}

/** A state that a newer overlord has is shown before all others. */
function rankOf(state: string): number {
  return WORST.indexOf(state);
}
