import { describe, expect, it } from "vitest";
import { parseSearch } from "@/app/search";
import { whoWaits, whyNoneRuns } from "./Empty";
import { filterOf, inState, type Listed, listedOf, listOf, numberOf, type TaskRow } from "./rows";
import { isNarrowed, tasksSearch } from "./search";

function row(id: string, runnerStatusCode: string): TaskRow {
  return { id, runnerStatusCode } as TaskRow;
}

const ACTIVE: Listed = {
  rows: [row("a", "RUNNING"), row("b", "PENDING"), row("c", "RUNNING")],
  isWhole: true,
};

describe("the state of the list of tasks", () => {
  it("takes what is well-formed from any URL", () => {
    const search = tasksSearch(parseSearch("?state=none&group=99999999999&worker=w&worker=x&q="));

    expect(search).toStrictEqual({
      q: undefined,
      state: undefined,
      supervisor: undefined,
      group: undefined,
      generation: undefined,
      worker: "w",
      by: undefined,
      unfolded: undefined,
      sel: undefined,
    });
    expect(isNarrowed(search)).toBe(true);
    expect(isNarrowed(tasksSearch({ state: "all", sel: "a" }))).toBe(false);
  });

  it("is what the overlord is asked for", () => {
    expect(filterOf(tasksSearch({ group: "2", q: "x", supervisor: "s" }))).toEqual({
      group: 2,
      q: "x",
      supervisor: "s",
    });
    expect(
      [undefined, "running", "pending", "own-failures", "all"].map((s) => listOf(s as never)),
    ).toEqual(["active", "active", "active", "own-failures", "all"]);
  });
});

describe("the rows of the list", () => {
  it("are parted into those that run and those that their workers have not reported", () => {
    expect(inState(ACTIVE, "running").rows.map(({ id }) => id)).toEqual(["a", "c"]);
    expect(inState(ACTIVE, "pending").rows.map(({ id }) => id)).toEqual(["b"]);
    expect(inState(ACTIVE, undefined)).toBe(ACTIVE);
  });

  it("are counted as far as they are known", () => {
    expect(numberOf(ACTIVE, "running")).toBe("2");
    expect(numberOf({ ...ACTIVE, isWhole: false }, "running")).toBe("2+");
    expect(numberOf(undefined, "running")).toBeUndefined();
  });

  it("are each there once, whatever moved between two pages", () => {
    const pages = [
      { tasks: [row("a", "PENDING"), row("b", "RUNNING")], next: "more" },
      { tasks: [row("b", "RUNNING"), row("c", "RUNNING")], next: null },
    ];

    expect(listedOf(pages)?.rows.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(listedOf(pages)?.isWhole).toBe(true);
    expect(listedOf(pages.slice(0, 1))?.isWhole).toBe(false);
  });
});

describe("an empty list", () => {
  const facts = (total: number, suspended: number, alive = 1, needed = 0) =>
    ({
      supervisors: { total, suspended },
      workers: { alive },
      slots: { needed },
    }) as Parameters<typeof whyNoneRuns>[0];

  it.each([
    [undefined, "No task runs."],
    [facts(0, 0), "No task runs: there is no supervisor yet."],
    [facts(1, 1), "No task runs: 1 supervisor, suspended."],
    [facts(3, 3), "No task runs: 3 supervisors, all suspended."],
    [
      facts(3, 1, 0),
      "No task runs: 3 supervisors, 1 of them suspended, and no worker is connected.",
    ],
    [facts(2, 0), "No task runs: 2 supervisors, and none has anything to read now."],
    [facts(2, 0, 1, 4), "No task runs yet: 2 supervisors, which want 4 tasks."],
  ])("says why no task runs", (known, text) => {
    expect(whyNoneRuns(known)).toBe(text);
  });

  it("says how many replicas wait for a slot", () => {
    const slots = (needed: number, used: number, free: number) =>
      whoWaits({ needed, used, free, total: used + free });

    expect(slots(12, 4, 0)).toBe("8 replicas wait for a slot: they become tasks when one is free.");
    expect(slots(5, 4, 0)).toBe("1 replica waits for a slot: it becomes a task when one is free.");
    expect([slots(4, 4, 0), slots(4, 2, 2), whoWaits(null)]).toEqual([null, null, null]);
  });
});
