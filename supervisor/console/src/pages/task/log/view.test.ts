import { describe, expect, it } from "vitest";
import { errorsIn, gravities, hitsIn, lineOf, nextHit, partsOf, rangeOf, shownAt } from "./view";

const LINES = [
  "2026-01-05T12:00:00Z INFO    the task begins topic=clicks",
  '2026-01-05T12:00:01Z ERROR   a batch failed error="no space"',
  "    Traceback (most recent call last):",
  "      OSError: No space left",
  "2026-01-05T12:00:02Z WARNING it is tried again",
  "the log is full: from here on warnings and errors alone",
  "2026-01-05T12:00:03Z ERROR   a batch failed",
  "    Traceback",
];

describe("the lines of a log", () => {
  const grave = gravities(LINES);

  it("are as grave as their word; a trace is as grave as the line above", () => {
    expect([...grave]).toEqual([0, 2, 2, 2, 1, 0, 2, 2]);
    expect(shownAt(grave, "all")).toBeNull();
    expect(shownAt(grave, "warnings")).toEqual([1, 2, 3, 4, 6, 7]);
    expect(shownAt(grave, "errors")).toEqual([1, 2, 3, 6, 7]);
  });

  it("are searched in upper and lower case, those that are shown alone", () => {
    expect(hitsIn(LINES, null, "A BATCH")).toEqual([1, 6]);
    expect(hitsIn(LINES, [1, 2, 3, 6, 7], "a batch")).toEqual([0, 3]);
    expect(hitsIn(LINES, null, "")).toEqual([]);
  });

  it("lead to the first error and to the line that says what the last one is", () => {
    expect(errorsIn(LINES, grave, null)).toEqual({ first: 1, last: 6 });
    expect(errorsIn(LINES, grave, [1, 2, 3, 6, 7])).toEqual({ first: 0, last: 3 });
    expect(errorsIn([], gravities(LINES.slice(0, 1)), null)).toBeNull();
  });
});

describe("hits", () => {
  it("are marked in a line", () => {
    expect(partsOf("a Batch of batches", "batch")).toEqual(["a ", "Batch", " of ", "batch", "es"]);
    expect(partsOf("a Batch", "")).toEqual(["a Batch"]);
  });

  it("follow each other round and round", () => {
    const hits = [3, 8, 20];

    expect([0, 3, 8, 20].map((place) => nextHit(hits, place, 1))).toEqual([0, 1, 2, 0]);
    expect([0, 3, 9, 30].map((place) => nextHit(hits, place, -1))).toEqual([2, 2, 1, 2]);
    expect(nextHit([], 0, 1)).toBeNull();
  });
});

describe("an address of a line", () => {
  it.each([
    ["L120", 120],
    ["#L1", 1],
    ["L0", null],
    ["L12x", null],
    ["", null],
  ])("%s", (hash, line) => {
    expect(lineOf(hash)).toBe(line);
  });
});

describe("what is loaded", () => {
  it.each([
    [{ from: 0, to: 900, size: 900 }, "0–900 of 900 bytes"],
    [{ from: 0, to: 2_048, size: 2_048 }, "0–2.0 of 2.0 KiB"],
    [{ from: 2_306_867, to: 3_355_443, size: 3_355_443 }, "2.2–3.2 of 3.2 MiB"],
  ])("is written in one unit", (loaded, text) => {
    expect(rangeOf(loaded)).toBe(text);
  });
});
