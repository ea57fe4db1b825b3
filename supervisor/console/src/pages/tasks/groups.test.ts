import { describe, expect, it } from "vitest";
import { parseSearch, writeSearch } from "@/app/search";
import { linesOf, NONE, toggledIn } from "./groups";
import type { TaskRow } from "./rows";
import { tasksSearch } from "./search";

function row(id: string, parts: Partial<TaskRow>): TaskRow {
  return {
    id,
    supervisorId: "s",
    generationId: "",
    workerId: "w1",
    status: "RUNNING",
    runnerStatusCode: "RUNNING",
    ...parts,
  } as TaskRow;
}

const TASKS = [
  row("a", { supervisorId: "s10", generationId: "g2", workerId: "w2" }),
  row("b", { supervisorId: "s9", runnerStatusCode: "PENDING" }),
  row("c", { supervisorId: "s9", status: "FAILED", runnerStatusCode: "NONE" }),
  row("d", { supervisorId: "s9", status: "LATER" as never, runnerStatusCode: "NONE" }),
  row("e", { supervisorId: "s9", status: "SUCCESS", runnerStatusCode: "NONE" }),
];

describe("tasks in groups", () => {
  it("are counted by status, also by one of a newer release, below no head until it is unfolded", () => {
    const { rows, heads } = linesOf(TASKS, "supervisor");

    expect([...heads.values()]).toEqual([
      {
        key: "s9",
        isUnfolded: false,
        words: "4 tasks · 1 pending · 1 failed · 1 succeeded · 1 later",
      },
      { key: "s10", isUnfolded: false, words: "1 task · 1 running" },
    ]);
    expect(rows.map(({ id }) => id)).toEqual([...heads.keys()]);
  });

  it("follow the head of their group, in the order of the list", () => {
    const { rows } = linesOf(TASKS, "worker", ["w2", "gone"]);

    expect(rows.map(({ id }) => id)).toEqual(["group of w1", "group of w2", "a"]);
  });

  it("keep the order of the list by range; a submitted task has none", () => {
    const { heads } = linesOf(TASKS, "generation");

    expect([...heads.values()].map(({ key }) => key)).toEqual(["g2", NONE]);
  });

  it("are in the address, with the groups that are unfolded", () => {
    const search = { by: "worker", unfolded: ["w&1", ""] };
    const read = tasksSearch(parseSearch(`${writeSearch(search)}&by=range`));

    expect([read.by, read.unfolded]).toEqual(["worker", ["w&1"]]);
    expect(tasksSearch({ by: "none", unfolded: "a" }).unfolded).toBeUndefined();
    expect(toggledIn(undefined, "a")).toEqual(["a"]);
    expect(toggledIn(["a", "b"], "a")).toEqual(["b"]);
    expect(toggledIn(["a"], "a")).toBeUndefined();
  });
});
