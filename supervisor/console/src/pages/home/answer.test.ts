import { expect, test } from "vitest";
import { answerOf, statesOf } from "./answer";

const CALM = { broken: 0, atRisk: 0, toKnow: 0 };

function counts(total: number, suspended = 0, unhealthy = 0) {
  return { total, suspended, unhealthy, states: {} };
}

test("a suspended supervisor is not called healthy", () => {
  const answers = [counts(1, 1), counts(3, 3), counts(3, 1), counts(1), counts(3)].map(
    (supervisors) => answerOf({ totals: CALM, supervisors }),
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
