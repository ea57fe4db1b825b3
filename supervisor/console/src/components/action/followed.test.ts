import { expect, test } from "vitest";
import { Problem } from "@/api/problem";
import { ended, endOf, type Operation, operationIn } from "./followed";

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
