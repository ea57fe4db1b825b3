import { expect, test } from "vitest";
import { readJson } from "@/api/json";
import type { PartitionRow } from "../rows";
import { cellAfter, cellsOf, countsOf, heatOf, stretchesOf } from "./cells";

function row(parts: Partial<PartitionRow>): PartitionRow {
  return {
    topic: "orders",
    partition: 0,
    lagRecords: 0,
    lagMillis: null,
    headroomMillis: null,
    atRisk: false,
    trouble: null,
    ...parts,
  } as PartitionRow;
}

test.each([
  [0, null, "none"],
  [0, 5_000, "none"],
  [3, 0, "seconds"],
  [3, 59_999, "seconds"],
  [3, 60_000, "minutes"],
  [3, 600_000, "tens"],
  [3, 3_600_000, "hours"],
  [3, null, "unknown"],
  [null, null, "unknown"],
])("%s unread records of which the oldest is %s ms old are %s", (lagRecords, lagMillis, heat) => {
  expect(heatOf(row({ lagRecords, lagMillis }))).toBe(heat);
});

test("cells are in the order of topics and numbers, whatever the list's order", () => {
  const rows = [
    row({ topic: "b", partition: 0 }),
    row({ topic: "a", partition: 10 }),
    row({ topic: "a", partition: 9 }),
  ];

  expect(cellsOf(rows).map(({ name }) => name)).toEqual(["a:9", "a:10", "b:0"]);
});

test("a cell says in words what it shows", () => {
  const trouble = { code: "OFFSETS_UNREADABLE", text: "it is gone", since: "" } as never;
  const words = (parts: Partial<PartitionRow>) => cellsOf([row(parts)])[0]?.words;

  expect(words({})).toBe("orders:0 · nothing unread");
  expect(words({ lagRecords: 1_204, lagMillis: 842_000 })).toBe(
    "orders:0 · 1,204 unread, the oldest 14 m 02 s ago",
  );
  expect(words({ lagRecords: null })).toBe("orders:0 · its lag is not known");
  expect(words({ lagRecords: 2, atRisk: true, headroomMillis: 60_000, trouble })).toBe(
    "orders:0 · 2 unread, their age is not known · " +
      "at risk: Kafka deletes unread records in 1 m 00 s · it is gone",
  );
});

test("a lag and an age of 64 bits keep their place and their digits", () => {
  const answer = '{"lagRecords": 18446744073709551615, "lagMillis": 9223372036854775807}';
  const [cell] = cellsOf([row(readJson(answer) as Partial<PartitionRow>)]);

  expect(cell?.heat).toBe("hours");
  expect(cell?.words).toContain("18,446,744,073,709,551,615 unread");
  expect(heatOf(row(readJson('{"lagRecords": -9223372036854775808}') as never))).toBe("none");
});

test("cells that look alike are one stretch, and are counted", () => {
  const ages = [5, 5, 90_000, 90_000, 5, null];
  const cells = cellsOf(
    ages.map((lagMillis, partition) => row({ partition, lagRecords: 1, lagMillis })),
  );

  expect(stretchesOf(cells)).toEqual([
    { heat: "seconds", from: 0, to: 2 },
    { heat: "minutes", from: 2, to: 4 },
    { heat: "seconds", from: 4, to: 5 },
    { heat: "unknown", from: 5, to: 6 },
  ]);
  expect(countsOf(cells)).toEqual([
    ["seconds", 3],
    ["minutes", 2],
    ["unknown", 1],
  ]);
  expect(stretchesOf([])).toEqual([]);
});

test("keys lead along the strip and not beyond its ends", () => {
  const steps = ["ArrowRight", "ArrowLeft", "PageDown", "PageUp", "Home", "End", "a"];

  expect(steps.map((key) => cellAfter(key, 5, 12))).toEqual([6, 4, 11, 0, 0, 11, undefined]);
});
