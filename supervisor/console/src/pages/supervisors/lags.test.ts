import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DrawnLags, EVERY_MS, samplesOf } from "./lags";

const asked: string[][] = [];
const one = { at: [], records: [], millis: [] };

function drawn(): DrawnLags {
  return new DrawnLags(async (ids) => {
    asked.push(ids);
    return Object.fromEntries(ids.map((id) => [id, one]));
  });
}

beforeEach(() => {
  asked.length = 0;
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

test("all drawn rows are asked for in one request, once a minute", async () => {
  const lags = drawn();
  lags.draw("a");
  lags.draw("b");
  await vi.advanceTimersByTimeAsync(EVERY_MS - 1);
  expect(asked).toEqual([["a", "b"]]);

  await vi.advanceTimersByTimeAsync(EVERY_MS);
  expect(asked).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});

test("a row that comes without scrolling waits for the next request of all", async () => {
  const lags = drawn();
  const gone = lags.draw("a");
  await vi.advanceTimersByTimeAsync(1_000);
  gone();
  lags.draw("b");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toEqual([["a"]]);

  await vi.advanceTimersByTimeAsync(EVERY_MS);
  expect(asked.at(-1)).toEqual(["b"]);
});

test("a row that is scrolled to is asked for alone, and soon", async () => {
  const lags = drawn();
  lags.draw("a");
  await vi.advanceTimersByTimeAsync(1_000);
  lags.scrolled();
  lags.draw("b");
  await vi.advanceTimersByTimeAsync(1_000);

  expect(asked).toEqual([["a"], ["b"]]);
});

test("nothing is asked for once no row is drawn", async () => {
  const lags = drawn();
  const gone = lags.draw("a");
  await vi.advanceTimersByTimeAsync(1_000);
  gone();
  await vi.advanceTimersByTimeAsync(10 * EVERY_MS);

  expect(asked).toEqual([["a"]]);
});

test("a series is read as samples; what is not known stays so", () => {
  const at = ["2026-01-05T12:00:00Z", "2026-01-05T12:30:00Z"];

  expect(samplesOf({ at, records: [3, null], millis: [1, null] })).toEqual([
    { at: Date.parse(at[0] ?? ""), value: 3 },
    { at: Date.parse(at[1] ?? ""), value: null },
  ]);
});
