import { expect, test } from "vitest";
import { answerOf, statesOf } from "./answer";

const CALM = { broken: 0, atRisk: 0, toKnow: 0 };

function counts(total: number, suspended = 0, unhealthy = 0) {
  return { total, suspended, unhealthy, states: {} };
}

test("a suspended supervisor is not called healthy", () => {
  const answers = [counts(1, 1), counts(3, 3), counts(3, 1), counts(1), counts(3)].map(
    (supervisors) => answerOf({ totals: CALM, supervisors, attention: [] }),
  );

  expect(answers).toEqual([
    "The one supervisor is suspended: nothing is read.",
    "All 3 supervisors are suspended: nothing is read.",
    "2 of 3 supervisors are healthy, 1 suspended.",
    "The one supervisor is healthy.",
    "All 3 supervisors are healthy.",
  ]);
});

test("while a worker is lost, the supervisors are not said to be all healthy", () => {
  const supervisors = counts(1);

  expect(statesOf({ totals: { ...CALM, broken: 1 }, supervisors })).toBe(
    "none in an unhealthy state",
  );
  expect(statesOf({ totals: { ...CALM, toKnow: 1 }, supervisors })).toBe("all healthy");
  expect(statesOf({ totals: CALM, supervisors: counts(2, 1, 1) })).toBe("1 unhealthy, 1 suspended");
});

type Items = Parameters<typeof answerOf>[0]["attention"];

function items(...abouts: readonly string[]): Items {
  return abouts.map((each) => {
    const [severity, about, id, kind] = each.split(" ");
    return { severity, kind, about: { kind: about, id } };
  }) as unknown as Items;
}

test("what is broken or at risk has its name, or is counted with its noun", () => {
  const answer = (attention: Items, broken: number, atRisk = 0, toKnow = 0) =>
    answerOf({ totals: { broken, atRisk, toKnow }, supervisors: counts(9), attention });

  expect(answer(items("broken supervisor orders", "at-risk worker w-2"), 1, 1, 1)).toBe(
    "supervisor orders broken · worker w-2 at risk · 1 thing to know",
  );
  const two = ["broken supervisor a", "broken supervisor b"];
  expect(answer(items(...two), 2)).toBe("2 supervisors broken");
  expect(answer(items(...two, "broken supervisor b"), 3)).toBe("2 supervisors broken");
  expect(answer(items(...two), 1_204)).toBe("1,204 things broken");
  expect(answer(items(...two, "broken queue supervisor:b"), 3)).toBe(
    "2 supervisors and queue supervisor:b broken",
  );
  expect(answer(items(...two, "broken queue q", "broken worker w"), 4)).toBe("4 things broken");
  expect(answer(items("broken brokers kafka-1:9092"), 1)).toBe("Kafka at kafka-1:9092 broken");
  expect(answer(items("broken cluster  flows-stand-still"), 1)).toBe("flows broken");
  expect(answer(items("broken cluster "), 1)).toBe("1 thing broken");
  expect(answer(items(`broken supervisor ${"x".repeat(41)}`), 1)).toBe("1 supervisor broken");
});
