import { expect, test } from "vitest";
import { behind, fitting, type PartitionRow, resetOf, restOf } from "./rows";

function row(topic: string, partition: number, parts: Partial<PartitionRow> = {}): PartitionRow {
  return { topic, partition, group: partition % 2, committed: 5, ...parts } as PartitionRow;
}

test("partitions are filtered by a part of the topic and by the group", () => {
  const rows = [row("clicks-eu", 0), row("clicks-us", 1), row("orders", 2, { group: null })];
  const names = (search: Parameters<typeof fitting>[1]) =>
    fitting(rows, search).map(({ partition }) => partition);

  expect(names({})).toEqual([0, 1, 2]);
  expect(names({ topic: "clicks" })).toEqual([0, 1]);
  expect(names({ topic: "clicks", group: "1" })).toEqual([1]);
  expect(names({ group: "7" })).toEqual([]);
});

test("a reset has the partition, named as the status names it, at its committed offset", () => {
  const most = 9_223_372_036_854_775_807n as unknown as number;

  expect(resetOf(row("orders", 3, { committed: most }), "orders").offset).toEqual([
    "3=9223372036854775807",
  ]);
  expect(resetOf(row("orders", 3, { committed: null, firstOffset: 2 }), "or.*").offset).toEqual([
    "orders:3=2",
  ]);
});

test("a task that has read all has no number beside its worker", () => {
  expect([behind(null), behind(0), behind(814)]).toEqual(["", "", "−814 "]);
  expect([restOf(null), restOf(0)]).toEqual(["", ", all is read"]);
  expect(restOf(1814)).toBe(", 1,814 records are still to be read");
});
