import { describe, expect, it } from "vitest";
import { workSearch } from "./search";
import {
  cutAt,
  inOrder,
  ofCompaction,
  ofExport,
  ofOperation,
  ofSupervisor,
  sentenceOf,
  shown,
  type Work,
} from "./work";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const HOUR_AGO = "2026-11-28T11:00:00Z";
const DAYS_AGO = "2026-11-25T11:00:00Z";

const OPERATION: Parameters<typeof ofOperation>[0] = {
  id: "op_1",
  kind: "apply",
  supervisor: "orders",
  askedBy: "alice",
  at: HOUR_AGO,
  state: "running",
  waitsFor: "group 0 pauses (orders:3), group 1 pauses (orders:4)",
  finishedAt: null,
  specVersion: 8,
  ranges: ["orders:3", "orders:4"],
  unpublished: [],
};
const COMPACTION: Parameters<typeof ofCompaction>[0] = {
  id: "c1",
  dataSource: "orders",
  supervisorId: "orders",
  intervalStart: DAYS_AGO,
  intervalEnd: HOUR_AGO,
  status: "RUNNING",
  statusCode: "WAITING",
  files: 3,
  rows: 1_200,
  reason: "compaction rule",
  createdAt: HOUR_AGO,
  workerId: null,
  endedAt: null,
  detail: "",
};
const EXPORT: Parameters<typeof ofExport>[0] = {
  dataSource: "orders",
  format: "delta",
  state: "stuck",
  lagSeconds: 90,
  sequence: 4,
  version: 3,
  location: null,
  exportedAt: DAYS_AGO,
  problem: "two types of one column",
};

describe("work", () => {
  it("has one form, whatever it is", () => {
    expect(ofOperation(OPERATION)).toMatchObject({ standing: "running", what: "apply, version 8" });
    expect(ofCompaction(COMPACTION)).toMatchObject({
      state: "waiting",
      note: "waits for a worker",
      cancel: "c1",
      by: "compaction rule",
      reason: null,
    });
    const failed = { ...COMPACTION, status: "FAILED", statusCode: "FAILED" } as const;
    expect(ofCompaction(failed)).toMatchObject({ standing: "trouble", cancel: null });
    expect(ofExport(EXPORT)).toMatchObject({ standing: "trouble", note: EXPORT.problem });
    expect(ofExport({ ...EXPORT, state: "off" })).toBeNull();
  });

  it("knows how far a backfill is", () => {
    const row = {
      id: "b",
      state: "RUNNING",
      detailedState: "RUNNING",
      healthy: true,
      why: "",
      versionAt: HOUR_AGO,
      bounded: { records: 200, published: 50 },
    } as Parameters<typeof ofSupervisor>[0];

    expect(ofSupervisor(row)).toMatchObject({
      progress: 0.25,
      progressWords: "50 of 200 records published",
    });
    expect(ofSupervisor({ ...row, bounded: null })).toBeNull();
    expect(ofSupervisor({ ...row, state: "COMPLETED" })?.standing).toBe("ended");
  });

  it("is shown while it goes on, and for a day after it has ended", () => {
    const done = { ...OPERATION, state: "done" } as const;
    const work = [
      ofOperation({ ...done, id: "old", finishedAt: DAYS_AGO }),
      ofOperation({ ...done, id: "new", finishedAt: HOUR_AGO }),
      ofOperation({ ...OPERATION, id: "long", at: DAYS_AGO }),
      ofExport(EXPORT) as Work,
    ];

    const rows = inOrder(shown(work, {}, NOW));

    expect(rows.map(({ key }) => key)).toEqual(["export delta orders", "long", "new"]);
    expect(sentenceOf(rows)).toBe("1 in trouble · 1 running · 1 ended in the last 24 h");
    expect(shown(work, { kind: ["export"] }, NOW)).toHaveLength(1);
    expect(shown(work, { state: ["ended"] }, NOW).map(({ key }) => key)).toEqual(["new"]);
    expect(sentenceOf([])).toBe("Nothing was asked for in 24 h.");
  });

  it("names the ranges that it waits for", () => {
    expect(cutAt(OPERATION.waitsFor, ["orders:4", "orders:3"])).toEqual([
      { text: "group 0 pauses (", isName: false },
      { text: "orders:3", isName: true },
      { text: "), group 1 pauses (", isName: false },
      { text: "orders:4", isName: true },
      { text: ")", isName: false },
    ]);
  });

  it("is filtered by words of any URL", () => {
    const search = { kind: ["export", "x"], state: "ended", other: "1" };

    expect(workSearch(search)).toStrictEqual({
      kind: ["export"],
      state: ["ended"],
      sel: undefined,
    });
    expect(workSearch({ kind: "__proto__" }).kind).toBeUndefined();
  });
});
