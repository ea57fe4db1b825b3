import { describe, expect, it } from "vitest";
import { type DeadInput, dropInputOf, replayInputOf } from "@/changes/deadInputs";
import { verbsOf } from "./columns";
import { originOf } from "./InputDialog";
import { rowsOf } from "./rows";
import { deadInputsSearch } from "./search";

const SHA = "0".repeat(64);

function input(offset: number, part: Partial<DeadInput> = {}): DeadInput {
  return {
    offset,
    at: null,
    reason: "it is no JSON",
    execution: "day:mon",
    partition: 3,
    position: 40,
    bytes: 20,
    sha256: SHA,
    body: "no json",
    handled: null,
    ...part,
  };
}

describe("the changes of a dead input", () => {
  it("are bound to the input that was shown", () => {
    expect(replayInputOf(input(17)).request).toEqual({
      verb: "post",
      path: `/api/v1/executor/dead/17/replay?sha256=${SHA}`,
    });
    expect(dropInputOf(input(17)).request).toEqual({
      verb: "delete",
      path: `/api/v1/executor/dead/17?sha256=${SHA}`,
    });
    expect(dropInputOf(input(17)).confirm).toBe("17");
    expect(replayInputOf(input(17)).command).toBe("tidegate execution dead replay 17");
  });

  it("say for whom it was, and keep every digit", () => {
    const most = 9_007_199_254_740_993n as unknown as number;

    expect(replayInputOf(input(most)).request.path).toContain("/dead/9007199254740993/replay");
    expect(dropInputOf(input(1)).effect).toContain("for day:mon could not be worked in");
    expect(dropInputOf(input(1, { execution: null })).effect).not.toContain("for ");
  });
});

describe("dead inputs", () => {
  it("can be replayed until they were, and dropped until they are handled", () => {
    const handled = { outcome: "", detail: "", by: "ada", reason: "", at: "2026-01-05T12:00:00Z" };
    const of = (verb: string) => verbsOf(input(1, { handled: { ...handled, verb } }));

    expect(verbsOf(input(1))).toEqual({ canReplay: true, canDrop: true });
    expect(of("replay")).toEqual({ canReplay: false, canDrop: false });
    expect(of("drop")).toEqual({ canReplay: true, canDrop: false });
  });

  it("are each one row, and say where they were read", () => {
    const page = (...offsets: number[]) => ({ letters: offsets.map((n) => input(n)), next: null });

    expect(rowsOf([page(9, 8), page(8, 7)]).map(({ offset }) => offset)).toEqual([9, 8, 7]);
    expect(originOf(input(1))).toBe("partition 3 of the history, at offset 40");
    expect(originOf(input(1, { position: null }))).toBe("partition 3, from no topic");
  });

  it("are found by any URL", () => {
    expect(deadInputsSearch({ input: "17", handled: "true" })).toEqual({
      input: "17",
      handled: true,
      sel: undefined,
    });
    expect(deadInputsSearch({ input: "../17", handled: "1" })).toEqual({
      input: undefined,
      handled: undefined,
      sel: undefined,
    });
  });
});
