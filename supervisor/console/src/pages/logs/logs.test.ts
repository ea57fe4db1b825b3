import { describe, expect, it } from "vitest";
import { parseSearch } from "@/app/search";
import { executionOf, textOf } from "./columns";
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
    const executions = reportsSearch(parseSearch("?origin=execution&type=progress"));
    expect(filterOf(executions)).toEqual({ origin: "execution", type: "progress" });
    expect(reportsSearch(parseSearch("?origin=nobody")).origin).toBeUndefined();
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

describe("what a record is about", () => {
  it("is an execution, also where it is one of its steps, or something else", () => {
    expect(executionOf("nightly:2026-11-25/verify")).toBe("nightly:2026-11-25");
    expect(executionOf("nightly:2026-11-25")).toBe("nightly:2026-11-25");
    expect(executionOf("index_kafka_clicks_0123_abcd")).toBeNull();
  });
});
