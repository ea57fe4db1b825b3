import { describe, expect, it } from "vitest";
import { readJson } from "@/api/json";
import { countedOf, factsOf, offsetsOf, plus } from "./facts";

function payload(end: string): unknown {
  return readJson(`{"ioConfig": {"taskGroupId": 2,
    "startSequenceNumbers": {"stream": "clicks", "partitionSequenceNumberMap": {"10": 5, "9": 7}},
    "endSequenceNumbers": {"partitionSequenceNumberMap": {"10": ${end}, "9": ${end}}}}}`);
}

const ENDED = readJson(`{"ingestionStatsAndErrors": {"payload": {
  "unparseableEvents": {"buildSegments": [{"topic": "clicks", "partition": 9,
    "offset": 9007199254740993, "details": ["not-json", "no object"], "input": "broken"}]},
  "rowStats": {"buildSegments": {"processed": 41, "processedBytes": 900},
    "rejected": {"not-json": 2, "bad-time": 1}},
  "recordsProcessed": {"10": 30, "9": 11}}}}`);

describe("the offsets of a task", () => {
  it("have no end until it is fixed: Druid's largest number stands for that", () => {
    expect(factsOf(payload("9223372036854775807"))?.end).toBeNull();
    expect(factsOf(payload("9223372036854775806"))?.end?.get("10")).toBe(9223372036854775806n);
  });

  it("are those of its supervisor's status while it runs, by the number of the partition", () => {
    const facts = factsOf(payload("9223372036854775807"));
    const position = { currentOffsets: { "9": 8, "10": 9007199254740993n }, lag: { "9": 0 } };

    expect(facts && offsetsOf(facts, position, null)).toEqual([
      { partition: "9", start: 7, current: 8, end: null, lag: 0 },
      { partition: "10", start: 5, current: 9007199254740993n, end: null, lag: null },
    ]);
  });

  it("are where it had read to once it has ended", () => {
    const facts = factsOf(payload("40"));
    const read = countedOf(ENDED)?.read ?? null;

    expect(facts && offsetsOf(facts, null, read).map(({ current }) => current)).toEqual([18, 35]);
    expect(facts && offsetsOf(facts, null, null).map(({ current }) => current)).toEqual([
      null,
      null,
    ]);
  });

  it("lose no digit when they are added", () => {
    expect(plus(9007199254740991, 2)).toBe(9007199254740993n);
    expect(plus(1n, 2)).toBe(3);
  });
});

describe("the report of a task", () => {
  it("has the counters of one that has ended", () => {
    const counted = countedOf(ENDED);

    expect(counted).toMatchObject({ processed: 41, bad: 3, rowsPerSecond: null });
    expect(counted?.samples).toEqual([
      {
        topic: "clicks",
        partition: 9,
        offset: 9007199254740993n,
        reason: "not-json: no object",
        input: "broken",
      },
    ]);
  });

  it("has averages of one that runs", () => {
    const report = readJson(`{"ingestionStatsAndErrors": {"payload": {"rowStats": {
      "movingAverages": {"buildSegments": {"1m": {"processed": 2.5}}},
      "totals": {"buildSegments": {"processed": 4}, "rejected": {}}}}}}`);

    expect(countedOf(report)).toMatchObject({ processed: 4, bad: 0, rowsPerSecond: 2.5 });
  });

  it("may have any other form", () => {
    expect([null, "text", {}, [], { ingestionStatsAndErrors: 1 }].map(countedOf)).toEqual(
      Array(5).fill(null),
    );
    expect([null, {}, { ioConfig: { taskGroupId: "0" } }].map(factsOf)).toEqual(
      Array(3).fill(null),
    );
  });
});
