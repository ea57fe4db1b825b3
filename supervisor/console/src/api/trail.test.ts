import { expect, test } from "vitest";
import type { Overview } from "./overview";
import { KEPT_MS, STEP_MS, Trail } from "./trail";

const BEGIN = Date.parse("2026-01-05T12:00:00Z");

function seen(after: number, records: number | bigint | null): Overview {
  const lag = { records, oldestMillis: null, lookedAt: null };
  return {
    at: new Date(BEGIN + after).toISOString(),
    supervisors: null,
    rowsPerSecond: 2,
    lag,
    slots: null,
  } as unknown as Overview;
}

test("figures are kept a step apart, for an hour", () => {
  const trail = new Trail();
  trail.note(seen(0, 1));
  trail.note(seen(STEP_MS - 1, 2));
  trail.note(seen(STEP_MS, 3n));
  expect(trail.get().map(({ lag }) => lag)).toEqual([1, 3]);

  trail.note(seen(KEPT_MS + STEP_MS - 1, null));
  expect(trail.get().map(({ lag, rows }) => [lag, rows])).toEqual([
    [3, 2],
    [null, 2],
  ]);
});
