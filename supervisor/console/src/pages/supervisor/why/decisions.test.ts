import { expect, test } from "vitest";
import { actionsAbout, type Entry, entriesOf, type Plan, queueOf } from "./decisions";

function plan(second: number, actions: [string, string][] = [], error = ""): Plan {
  return {
    at: `2026-11-28T10:00:${String(second).padStart(2, "0")}Z`,
    term: 3,
    actions: actions.map(([action, about]) => ({ action, about, why: `why ${second}` })),
    error,
  };
}

const PLANS = [
  plan(9, [], "database is away"),
  plan(8, [], "database is away"),
  plan(7, [], "Kafka is away"),
  plan(6, [
    ["FixEnd", "g_1"],
    ["EndTask", "task_1"],
  ]),
  plan(5),
  plan(4),
  plan(3),
  plan(2, [["OpenGeneration", "g_1"]]),
];

function shown(entry: Entry): unknown[] {
  return entry.kind === "acted"
    ? entry.actions.map(({ action }) => action)
    : [entry.kind, entry.count, entry.from.slice(17, 19), entry.error];
}

test("passes in a row that did nothing, or failed alike, are one line", () => {
  expect(entriesOf(PLANS, {}).map(shown)).toEqual([
    ["failed", 2, "08", "database is away"],
    ["failed", 1, "07", "Kafka is away"],
    ["FixEnd", "EndTask"],
    ["idle", 3, "03", ""],
    ["OpenGeneration"],
  ]);
});

test("a filter leaves the actions that fit it, and passes without them out", () => {
  expect(entriesOf(PLANS, { action: ["EndTask"] }).map(shown)).toEqual([["EndTask"]]);
  expect(entriesOf(PLANS, { about: "g_1" }).map(shown)).toEqual([["FixEnd"], ["OpenGeneration"]]);
  expect(entriesOf(PLANS, { action: ["EndTask"], about: "g_1" })).toEqual([]);
  expect(actionsAbout(PLANS, "g_1").map(({ at }) => at.slice(17, 19))).toEqual(["06", "02"]);
});

test("a queue is named by its container, which may have a slash, and its name", () => {
  expect(queueOf("supervisor:a/b/task-output")).toEqual({
    container: "supervisor:a/b",
    name: "task-output",
  });
});
