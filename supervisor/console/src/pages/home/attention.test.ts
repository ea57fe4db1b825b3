import { expect, test } from "vitest";
import type { AttentionItem } from "@/api/overview";
import { keyed, partitionsOf } from "./Attention";

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

test("an item keeps its name while the figures in its sentence change", () => {
  const about = { kind: "supervisor", id: "clicks" } as const;
  const lag = (text: string) => ({ kind: "lag-rising", about, text }) as AttentionItem;
  const before = keyed([lag("3 records behind"), lag("7 records behind")]);
  const after = keyed([lag("4 records behind"), lag("9 records behind")]);

  expect(after.map(([key]) => key)).toEqual(before.map(([key]) => key));
  expect(new Set(before.map(([key]) => key)).size).toBe(2);
});
