import { expect, test } from "vitest";
import { partitionsOf } from "./Attention";

test("an item about partitions leads to them, the worst first and marked", () => {
  const worst = { topic: "eu:orders", partition: 3 };

  expect(partitionsOf("lag-rising", worst)).toEqual({
    only: "behind",
    sort: "-lagRecords",
    sel: "eu:orders:3",
  });
  expect(partitionsOf("retention-passed", worst).only).toBe("at-risk");
  expect(partitionsOf("retention-risk", worst)).toEqual({
    only: "at-risk",
    sort: "headroomMillis",
    sel: "eu:orders:3",
  });
});
