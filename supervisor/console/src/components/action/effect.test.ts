import { expect, test } from "vitest";
import type { VerbPreview } from "./action";
import { changedBetween, confirmOf, rowsOf } from "./effect";

type Range = NonNullable<VerbPreview["publishes"]>[number];

function range(generationId: string, from: number, to: number | null, partition = 0): Range {
  return { generationId, group: 0, offsets: [{ topic: "orders", partition, from, to }] };
}

function task(id: string, held: Range, unpublished: number | null = null) {
  return { task: id, worker: "w-1", unpublished, ...held };
}

function preview(parts: Partial<VerbPreview>): VerbPreview {
  const words = { text: "It ends.", undo: "resume it", warnings: [] };
  return { dryRun: true, verb: "suspend", id: "orders", digest: "ab", ...words, ...parts };
}

function shownOf(parts: Partial<VerbPreview>): string[] {
  return rowsOf(preview(parts)).map(
    ({ fate, partition, from, to, moves }) =>
      `${fate} ${partition}: ${from}-${to}${moves ? " so far" : ""}`,
  );
}

test("a range that is published ends where its furthest task has read to", () => {
  const ends = [task("t-1", range("g", 10, 20)), task("t-2", range("g", 10, 25))];

  expect(shownOf({ ends, publishes: [range("g", 10, null)] })).toEqual([
    "publishes 0: 10-25 so far",
  ]);
  expect(shownOf({ ends, publishes: [range("g", 10, 30)] })).toEqual(["publishes 0: 10-30"]);
});

test("each range has one fate", () => {
  const unread = task("t-1", range("unread", 5, 5));
  const stopped = task("t-2", range("stopped", 0, 7));

  expect(
    shownOf({
      ends: [unread, stopped],
      publishes: [],
      stays: [range("stopped", 0, null), range("other", 3, null, 1)],
      givesUp: [range("stopped", 0, 7)],
    }),
  ).toEqual(["again 0: 0-7", "ends 0: 5-5 so far", "stays 1: 3-null so far"]);
});

test("what is lost has to be typed, by its records where they are known", () => {
  const gone = [range("a", 10, 20), range("b", 0, 5, 1)];

  expect(confirmOf(preview({ verb: "terminate", givesUp: gone }))?.number).toBe("15");
  expect(confirmOf(preview({ givesUp: [...gone, range("c", 0, null)] }))?.number).toBe("3");
  expect(confirmOf(preview({ givesUp: gone, stays: gone }))).toBeNull();
});

test("rows that leave a table, or would come in twice, have to be typed", () => {
  const files = { n: 2, rows: 400, bytes: 9_000 };

  expect(confirmOf(preview({ verb: "mark-unused", files }))?.number).toBe("400");
  expect(confirmOf(preview({ verb: "set-retention", files }))?.what).toBe("rows leave the table");
  expect(confirmOf(preview({ verb: "forget", files }))?.what).toContain("second time");
  expect(confirmOf(preview({ verb: "compact", files }))).toBeNull();
  expect(confirmOf(preview({ verb: "forget", files: { n: 0, rows: 0, bytes: 0 } }))).toBeNull();
});

test("a range whose fate is another one is marked, and one that is read on is not", () => {
  const before = preview({ publishes: [range("a", 0, null)], stays: [range("b", 0, null, 1)] });
  const after = preview({ publishes: [range("a", 0, 9), range("b", 0, 4, 1)], stays: [] });

  expect(changedBetween(before, after)).toEqual(new Set(["publishes b"]));
});
