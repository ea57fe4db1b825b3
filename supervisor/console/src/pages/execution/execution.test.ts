import { describe, expect, it } from "vitest";
import { barsOf, chartOf } from "./bars";
import type { Execution, TaskRun } from "./data";
import { bodyOf, commandOf, stepsOf } from "./rerun";
import { executionSearch } from "./search";
import { standingsOf, treeOf } from "./tree";
import { verbsOf, waitsOf } from "./waits";
import { barWords, triggerWords } from "./words";

const BEGIN = Date.parse("2026-11-29T12:00:00Z");

function at(seconds: number): string {
  return new Date(BEGIN + seconds * 1_000).toISOString();
}

function run(id: string, parts: Partial<TaskRun> = {}): TaskRun {
  return {
    id,
    step: id,
    state: "SUCCESS",
    item: null,
    parent: null,
    createdAt: at(0),
    endedAt: at(1),
    retryAt: null,
    waitsFor: null,
    attempts: [],
    outputs: {},
    error: null,
    ...parts,
  } as TaskRun;
}

function execution(runs: TaskRun[], parts: Partial<Execution> = {}): Execution {
  return {
    id: "day:1",
    state: "RUNNING",
    createdAt: at(0),
    endedAt: null,
    parent: null,
    trigger: {},
    waitsFor: [],
    runs,
    ...parts,
  } as Execution;
}

function attempt(number: number, submitted: number, began: number | null, ended: number | null) {
  return {
    number,
    state: ended === null ? "RUNNING" : "FAILED",
    submittedAt: at(submitted),
    beganAt: began === null ? null : at(began),
    endedAt: ended === null ? null : at(ended),
    runner: null,
    error: null,
  } as TaskRun["attempts"][number];
}

describe("the tree of task runs", () => {
  it("has each run below the one that it is inside of, item by item", () => {
    const runs = [
      run("each"),
      run("b1", { step: "b", parent: "each", item: 1 }),
      run("a0", { step: "a", parent: "each", item: 0 }),
      run("b0", { step: "b", parent: "each", item: 0 }),
      run("lost", { parent: "not-here" }),
    ];

    const rows = treeOf(runs).map(({ label, depth }) => `${" ".repeat(depth)}${label}`);

    expect(rows).toEqual(["each", " a [0]", " b [0]", " b [1]", "lost"]);
  });

  it("shows of several runs of a step the one that matters most", () => {
    const runs = [
      run("a", { step: "s" }),
      run("b", { step: "s", state: "FAILED" }),
      run("c", { step: "s", state: "RUNNING" }),
      run("d", { step: "one", state: "NEWER" as never }),
    ];

    expect(standingsOf(runs)).toEqual({
      s: { state: "FAILED", run: "b", note: "1 of 3 runs done" },
      one: { state: "NEWER", run: "d", note: "" },
    });
  });
});

describe("what an execution waits for", () => {
  const asks = run("ok", {
    state: "WAITING",
    endedAt: null,
    waitsFor: { kind: "answer", what: "yes or no", since: at(3), until: null },
  });

  it("names what somebody has to do also while something else runs", () => {
    expect(waitsOf(execution([run("other"), asks]))).toEqual([
      { kind: "answer", what: "yes or no", since: at(3), run: asks },
    ]);
  });

  it("names each thing once", () => {
    const more = { until: null, holders: [] };
    const waitsFor: Execution["waitsFor"] = [
      { kind: "answer", what: "yes or no", since: at(3), step: "ok", run: "ok", ...more },
      {
        kind: "resume",
        what: "somebody to let it go on",
        since: at(1),
        step: null,
        run: null,
        ...more,
      },
    ];

    const waits = waitsOf(execution([asks], { waitsFor }));

    expect(waits.map(({ what, run: of }) => [what, of?.id ?? null])).toEqual([
      ["yes or no", "ok"],
      ["somebody to let it go on", null],
    ]);
  });
});

describe("the verbs of a step", () => {
  const answer = { kind: "answer", what: "?", since: at(0), until: null } as const;

  it.each([
    ["RUNNING", run("a", { state: "WAITING", waitsFor: answer }), "approve", ["yes", "no", "skip"]],
    ["RUNNING", run("a", { state: "WAITING" }), "http", ["retry", "skip"]],
    ["RUNNING", run("a", { state: "RETRYING" }), "noop", ["retry", "skip"]],
    ["RUNNING", run("a", { state: "RUNNING" }), "http", ["retry"]],
    ["RUNNING", run("a", { state: "RUNNING" }), undefined, []],
    ["RUNNING", run("a", { state: "RUNNING" }), "parallel", []],
    ["RUNNING", run("a", { state: "SUCCESS" }), "http", []],
    ["KILLING", run("a", { state: "WAITING" }), "http", []],
    ["FAILED", run("a", { state: "WAITING" }), "http", []],
  ])("of an execution that is %s fit its state", (state, of, type, verbs) => {
    expect(verbsOf(state, of, type)).toEqual(verbs);
  });
});

describe("the chart of times", () => {
  it("has a bar for each part of an attempt, and between attempts", () => {
    const retried = run("a", {
      state: "RUNNING",
      endedAt: null,
      attempts: [attempt(1, 0, 1, 4), attempt(2, 14, 15, null)],
    });
    const [row] = treeOf([retried]);

    const bars = row === undefined ? [] : barsOf(row, BEGIN + 20_000);

    expect(
      bars.map(({ kind, from, to }) => [kind, (from - BEGIN) / 1_000, (to - BEGIN) / 1_000]),
    ).toEqual([
      ["queue", 0, 1],
      ["run", 1, 4],
      ["retry", 4, 14],
      ["queue", 14, 15],
      ["run", 15, 20],
    ]);
    expect(bars.map(barWords)[1]).toBe("attempt 1 runs, 3.0 s");
  });

  it("shows what waits, and what holds other steps", () => {
    const rows = treeOf([run("p", { endedAt: null }), run("ok", { parent: "p", endedAt: null })]);

    const kinds = rows.map((row) => barsOf(row, BEGIN + 5_000).map(({ kind }) => kind));

    expect(kinds).toEqual([["hold"], ["wait"]]);
  });

  it("folds a long time in which nothing ran", () => {
    const early = run("a", { endedAt: at(5), attempts: [attempt(1, 0, 0, 5)] });
    const late = run("b", {
      createdAt: at(90_000),
      endedAt: at(90_010),
      attempts: [attempt(1, 90_000, 90_000, 90_010)],
    });
    const all = execution([early, late], { endedAt: at(90_010) });

    const { stretches } = chartOf(all, treeOf(all.runs), 0);

    expect(stretches.map(({ isFolded }) => isFolded)).toEqual([false, true, false]);
  });
});

describe("words", () => {
  it.each([
    [{ trigger: { type: "request", by: "alice" } }, "by alice"],
    [{ trigger: { type: "schedule" } }, "by its trigger schedule"],
    [{ trigger: {} }, ""],
    [{ parent: "day:0" }, "by a step of another execution"],
  ])("say who has started it: %j", (parts, words) => {
    expect(triggerWords(execution([], parts))).toBe(words);
  });

  it("of an address are taken if a task run can have them", () => {
    expect(executionSearch({ run: "0af1", sel: "<b>" })).toEqual({ run: "0af1", sel: undefined });
  });
});

describe("a rerun", () => {
  const whole = { keeps: ["pack"], goesOn: ["each"], runs: ["judge", "tell"] };

  it("begins with any step of the flow's own graph", () => {
    expect(stepsOf(undefined)).toEqual([]);
    expect(stepsOf(whole)).toEqual(["pack", "each", "judge", "tell"]);
  });

  it("says what was not done by leaving the step out", () => {
    const wanted = { from: "", latest: false, force: false };

    expect(bodyOf(wanted)).toEqual({ latest: false, force: false });
    expect(commandOf("day:1", wanted)).toBe("tidegate execution rerun day:1");
  });

  it("is the same by the command line", () => {
    const wanted = { from: "judge", latest: true, force: true };

    expect(bodyOf(wanted)).toEqual(wanted);
    expect(commandOf("day:it's", wanted)).toBe(
      "tidegate execution rerun 'day:it'\\''s' --from judge --latest --force",
    );
  });
});
