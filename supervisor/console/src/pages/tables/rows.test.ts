import { describe, expect, it } from "vitest";
import type { AttentionItem } from "@/api/overview";
import { brokenOf } from "./columns";
import { chosenOf, dueOf, type ExportRow, isInTrouble, rowsOf, type TableStats } from "./rows";

function stats(name: string, part: Partial<TableStats> = {}): TableStats {
  return {
    name,
    rows: 1,
    bytes: 100,
    files: 1,
    smallFiles: 0,
    unusedFiles: 0,
    timeMin: "2026-01-01T00:00:00Z",
    timeMax: "2026-01-02T00:00:00Z",
    lastPublishedAt: "2026-01-05T00:00:00Z",
    supervisors: [`${name}-reader`],
    exports: [],
    ...part,
  };
}

function attention(id: string, severity: string): AttentionItem {
  return {
    severity,
    about: { kind: "supervisor", id },
    supervisors: [] as string[],
  } as AttentionItem;
}

function exported(dataSource: string, state: string): ExportRow {
  return { dataSource, format: "delta", state } as ExportRow;
}

describe("the list of tables", () => {
  const rows = rowsOf(
    [
      stats("b", { rows: 9_007_199_254_740_993n as unknown as number, exports: ["delta"] }),
      stats("a", { rows: 9_007_199_254_740_992n as unknown as number }),
      stats("d", { files: 0, rows: 0, lastPublishedAt: null, timeMax: null }),
      stats("c", { exports: ["delta"] }),
    ],
    [exported("b", "equal"), exported("c", "stuck"), exported("a", "off")],
    [attention("d-reader", "broken"), attention("a-reader", "to-know")],
    new Map([["d", "2026-01-06T00:00:00Z"]]),
  );
  const names = (search: Parameters<typeof chosenOf>[1]) =>
    chosenOf(rows, search).map(({ name }) => name);

  it("has those in trouble first: a broken supervisor, or an export that is stuck", () => {
    expect(rows.filter(isInTrouble).map(({ name }) => name)).toEqual(["d", "c"]);
    expect(names({})).toEqual(["c", "d", "a", "b"]);
  });

  it("is sorted by each digit, unknown values last both ways", () => {
    expect(names({ sort: "-rows" })).toEqual(["b", "a", "c", "d"]);
    expect(names({ sort: "-lastPublishedAt" }).at(-1)).toBe("d");
    expect(names({ sort: "lastPublishedAt" }).at(-1)).toBe("d");
    expect(names({ sort: "fileBytes" }).at(-1)).toBe("d");
  });

  it("is filtered by names of tables and supervisors, in any case", () => {
    expect(names({ q: "B-READ" })).toEqual(["b"]);
    expect(names({ only: "exported" })).toEqual(["c", "b"]);
    expect(names({ only: "empty" })).toEqual(["d"]);
  });

  it("knows a supervisor by an item that concerns several", () => {
    const silent = {
      severity: "broken",
      about: { kind: "cluster", id: "kafka:9092" },
      supervisors: ["x-reader", "y-reader"],
    } as unknown as AttentionItem;

    const [row] = rowsOf([stats("x")], [], [silent], undefined);
    expect(row?.broken).toEqual(["x-reader"]);
  });

  it("does not count an export that is switched off", () => {
    expect(rows.find(({ name }) => name === "a")?.states).toEqual([]);
  });

  it("knows when the first rows are due: with the first of the table's supervisors", () => {
    const due = dueOf([
      { dataSource: "t", nextPublishDue: "2026-01-01T02:00:00Z" },
      { dataSource: "t", nextPublishDue: "2026-01-01T01:00:00Z" },
      { dataSource: "t", nextPublishDue: null },
      { dataSource: null, nextPublishDue: "2026-01-01T00:00:00Z" },
    ]);

    expect([...due]).toEqual([["t", "2026-01-01T01:00:00Z"]]);
    expect(rows.find(({ name }) => name === "d")?.due).toBe("2026-01-06T00:00:00Z");
  });

  it("names the one broken supervisor, or says how many of them are", () => {
    expect(brokenOf(["b"])).toBe("broken: b");
    expect(brokenOf(["a", "b"])).toBe("2 supervisors broken");
  });
});
