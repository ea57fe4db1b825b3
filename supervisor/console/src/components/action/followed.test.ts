import { expect, test } from "vitest";
import { Problem } from "@/api/problem";
import { allEnded, ended, endOf, endOfMany, type Operation, operationIn } from "./followed";

function operation(state: Operation["state"], waitsFor = ""): Operation {
  return { kind: "handoff", supervisor: "orders", state, waitsFor } as Operation;
}

test("an answer names its operation, or none", () => {
  expect(operationIn({ operationId: "o-1" })).toBe("o-1");
  expect(operationIn({ operationId: null })).toBeNull();
  expect(operationIn(undefined)).toBeNull();
});

test("an end says how it ended", () => {
  expect(endOf(operation("done"))).toBe("orders: handoff is done.");
  expect(endOf(operation("superseded"))).toContain("superseded by a newer change");
  expect(endOf(operation("failed", "a worker"))).toBe("orders: handoff has failed: a worker.");
});

test("an operation is looked at until it ends, also over a silence", async () => {
  const silence = new Problem(0, "no-answer", "No answer", "");
  const answers = [operation("running"), silence, operation("done")];
  const pauses: number[] = [];
  const look = async () => {
    const next = answers.shift();
    if (next instanceof Problem || next === undefined) {
      throw next;
    }
    return next;
  };

  const end = await ended(look, async (millis) => pauses.push(millis));

  expect(end?.state).toBe("done");
  expect(pauses).toHaveLength(3);
  expect(pauses[2]).toBeGreaterThan(pauses[0] ?? 0);
});

test("an operation that is not there is followed no more", async () => {
  const look = async () => {
    throw new Problem(404, "not-found", "No such operation", "");
  };

  expect(await ended(look, async () => undefined)).toBeNull();
});

test("of many the first that runs is looked at again, the others once it has ended", async () => {
  const looked: string[] = [];
  const pauses: number[] = [];
  const look = async (id: string) => {
    looked.push(id);
    return operation(looked.length === 1 ? "running" : "done");
  };

  const ends = await allEnded(["a", "b", "c"], look, async (millis) => pauses.push(millis));

  expect(looked).toEqual(["a", "a", "b", "c"]);
  expect(pauses).toHaveLength(2);
  expect(ends).toHaveLength(3);
});

test("the end of many has their number, and the first that failed", () => {
  expect(endOfMany("Hand off", [operation("done"), operation("done")])).toBe(
    "Hand off: 2 of 2 supervisors are done.",
  );
  expect(endOfMany("Hand off", [operation("done"), operation("failed", "a worker")])).toBe(
    "Hand off: 1 of 2 supervisors are done. orders: handoff has failed: a worker.",
  );
});
