import { describe, expect, it } from "vitest";
import { parseSearch } from "@/app/search";
import { textOf } from "./columns";
import { filterOf, isFiltered, linesSearch, reportsSearch } from "./search";

describe("the filters of a search in its URL", () => {
  it("take what the API takes and nothing else", () => {
    const lines = linesSearch(
      parseSearch("?level=ERROR&text=disk&supervisor=a&status=FAILED&sel=x"),
    );
    expect(filterOf(lines)).toEqual({ level: "ERROR", text: "disk", supervisor: "a" });
    expect(linesSearch(parseSearch("?level=INFO")).level).toBeUndefined();
    const reports = reportsSearch(parseSearch("?type=audit&status=FAILED"));
    expect(filterOf(reports)).toEqual({ status: "FAILED" });
  });

  it("are set or not", () => {
    expect(isFiltered(linesSearch(parseSearch("?sel=x&level=no")))).toBe(false);
    expect(isFiltered(linesSearch(parseSearch("?text=a")))).toBe(true);
  });
});

describe("a line", () => {
  it("is shown without its time and level", () => {
    expect(textOf({ text: "2026-03-01T12:00:00Z ERROR   the disk  is full" })).toBe(
      "the disk  is full",
    );
    expect(textOf({ text: "short" })).toBe("short");
  });
});
