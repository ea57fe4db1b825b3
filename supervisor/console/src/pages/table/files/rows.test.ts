import { describe, expect, it } from "vitest";
import { filesSearch, utcOf } from "../search";
import { canReturn, filterOf, listedOf, type Segment, stateOf } from "./rows";

function segment(part: Partial<Segment>): Segment {
  return {
    id: "a/0",
    path: "t/a.parquet",
    intervalStart: "2026-01-01T00:00:00Z",
    intervalEnd: "2026-01-02T00:00:00Z",
    rows: 1,
    sizeBytes: 1,
    supervisorId: "s",
    generationId: "s:1",
    used: false,
    unusedAt: "2026-01-05T00:00:00Z",
    deleteAfter: null,
    deletedAt: null,
    compactionId: null,
    replacedBy: null,
    ...part,
  };
}

describe("the filter of files", () => {
  it("has files in use unless the address says otherwise", () => {
    expect(filterOf({})).toEqual({ used: true });
    expect(filterOf({ used: "no" })).toEqual({ used: false });
    expect(filterOf({ used: "all", supervisor: "a b" })).toEqual({ supervisor: "a b" });
  });

  it("takes times that are well-formed from any address", () => {
    expect(filesSearch({ from: "2026-01-05", to: "2026-01-05 12:30", used: "never" })).toEqual({
      used: undefined,
      from: "2026-01-05T00:00:00Z",
      to: "2026-01-05T12:30:00Z",
      supervisor: undefined,
      sel: undefined,
    });
    expect(filesSearch({ from: "yesterday" }).from).toBeUndefined();
  });

  it("reads a time in its own zone, and one without a zone as UTC", () => {
    expect(utcOf("2026-01-05T12:30:00+02:00")).toBe("2026-01-05T10:30:00Z");
    expect(utcOf("2026-13-05")).toBeUndefined();
  });
});

describe("a file", () => {
  it("that was taken out can be put back, unless it is replaced or deleted", () => {
    expect(canReturn(segment({}))).toBe(true);
    expect(canReturn(segment({ replacedBy: "compact_1" }))).toBe(false);
    expect(stateOf(segment({ deletedAt: "2026-02-01T00:00:00Z" }))).toBe("going");
    expect(stateOf(segment({ used: true }))).toBe("used");
  });

  it("is listed once, also where it is in two pages", () => {
    const page = { dataSource: "t", segments: [segment({})], next: null };

    expect(listedOf([page, page])).toHaveLength(1);
  });
});
