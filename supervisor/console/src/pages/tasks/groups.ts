import { counted, exact } from "@/text/numbers";
import { isPending, type TaskRow } from "./rows";
import type { Grouping } from "./search";

export type TaskGroup = {
  /** The id of what its tasks have in common, or NONE. */
  key: string;
  isUnfolded: boolean;
  words: string;
};

/** The rows of a list with groups: a head, and its tasks if it is unfolded. */
export type Lines = { rows: TaskRow[]; heads: ReadonlyMap<string, TaskGroup> };

/** The key of submitted tasks, which have no range and no worker; an empty one is lost in a URL. */
export const NONE = "(none)";
const ORDER = ["RUNNING", "PENDING", "FAILED", "SUCCESS"];
const WORDS: Record<string, string> = { SUCCESS: "succeeded" };

export function keyOf(row: TaskRow, by: Grouping): string {
  switch (by) {
    case "supervisor":
      return row.supervisorId;
    case "generation":
      return row.generationId || NONE;
    case "worker":
      return row.workerId || NONE;
  }
}

/** Supervisors and workers are in the order of their names, ranges newest first. */
export function linesOf(
  tasks: readonly TaskRow[],
  by: Grouping,
  unfolded: readonly string[] = [],
): Lines {
  const groups = new Map<string, TaskRow[]>();
  for (const row of tasks) {
    const those = groups.get(keyOf(row, by)) ?? [];
    groups.set(keyOf(row, by), those);
    those.push(row);
  }
  const keys = [...groups.keys()];
  if (by !== "generation") {
    keys.sort((a, b) => a.localeCompare(b, "en-GB", { numeric: true }));
  }
  const heads = new Map<string, TaskGroup>();
  const rows = keys.flatMap((key) => {
    const those = groups.get(key) ?? [];
    const isUnfolded = unfolded.includes(key);
    // A head has the shape of a task, so that one table holds both; its id is no task's.
    const head = { ...(those[0] as TaskRow), id: `group of ${key}` };
    heads.set(head.id, { key, isUnfolded, words: wordsOf(those) });
    return isUnfolded ? [head, ...those] : [head];
  });
  return { rows, heads };
}

/** Says how many tasks there are, and how many of each status: "3 tasks · 2 running · 1 failed". */
function wordsOf(tasks: readonly TaskRow[]): string {
  const counts = new Map<string, number>(ORDER.map((status) => [status, 0]));
  for (const row of tasks) {
    const status = isPending(row) ? "PENDING" : row.status;
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const parts = [...counts]
    .filter(([, number]) => number > 0)
    .map(([status, number]) => `${exact(number)} ${WORDS[status] ?? status.toLowerCase()}`);
  return [counted(tasks.length, "task"), ...parts].join(" · ");
}

/** The groups that are unfolded after one was folded or unfolded. */
export function toggledIn(unfolded: readonly string[] = [], key: string): string[] | undefined {
  const rest = unfolded.filter((each) => each !== key);
  const next = rest.length === unfolded.length ? [...unfolded, key] : rest;
  return next.length === 0 ? undefined : next;
}
