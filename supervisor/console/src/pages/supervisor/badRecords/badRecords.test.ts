import { expect, test } from "vitest";
import { dumpOf, lineOf, SHOWN_MAX, shownAs } from "./bytes";
import { policyOf, sampleOf } from "./policy";
import { type BadRecord, byPartition, sumOf } from "./quarantine";
import { MOST_MAX, topicTrouble, wantedOf } from "./replays";
import { badRecordsSearch, recordOf } from "./search";
import { colouredOf, OTHERS, partitionsOf, type Summary, slotsOf } from "./summary";

const PLACE = { topic: "clicks", partition: 3, offset: "9223372036854775806" };

test("bytes are shown as text, hex or base64, and none is not empty", () => {
  const part = { text: '{"a":\u0000', base64: btoa('{"a":\u0000') };

  expect(shownAs(part, "text")?.drawn).toBe('{"a":⟨U+0000⟩');
  expect(shownAs(part, "text")?.whole).toBe('{"a":\u0000');
  expect(shownAs(part, "hex")?.whole).toBe("7b2261223a00");
  expect(shownAs(part, "base64")?.drawn).toBe("eyJhIjoA");
  expect(shownAs({ text: null, base64: "/w==" }, "text")).toMatchObject({
    form: "hex",
    whole: "ff",
  });
  expect(shownAs({ text: "", base64: "" }, "text")?.whole).toBe("");
  expect(shownAs({ text: null, base64: null }, "text")).toBeNull();
});

test("a dump has the place, the bytes and the same as ASCII", () => {
  const bytes = Uint8Array.from([...Array(17).keys()].map((n) => n + 0x40));

  expect(dumpOf(bytes)).toBe(
    "000000  40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f  @ABCDEFGHIJKLMNO\n" +
      "000010  50                                               P",
  );
});

test("long bytes are drawn in part and copied whole", () => {
  const text = "x".repeat(SHOWN_MAX + 1);
  const shown = shownAs({ text, base64: btoa(text) }, "text");

  expect([shown?.drawn.length, shown?.whole.length, shown?.isCut]).toEqual([
    SHOWN_MAX,
    SHOWN_MAX + 1,
    true,
  ]);
});

test("a list has one line of each, with the signs that cannot be seen", () => {
  expect(lineOf({ text: "a\n\tb\u202Ec", base64: "" })).toBe("a b⟨U+202E⟩c");
  expect(lineOf({ text: null, base64: "/wA=" })).toBe("0xff00");
  expect(lineOf({ text: null, base64: null })).toBeNull();
});

test("counts keep their digits, and are by partition in the order of numbers", () => {
  const records = [10, 9, 10].map((partition) => ({ topic: "t", partition }) as BadRecord);

  expect(sumOf({ a: 9_223_372_036_854_775_807n, b: 1 })).toBe(9_223_372_036_854_775_808n);
  expect(byPartition(records)).toEqual([
    ["t:9", 1],
    ["t:10", 2],
  ]);
});

test("an address names a record with all its digits", () => {
  expect(recordOf("clicks:3:9223372036854775806")).toEqual(PLACE);
  expect(recordOf("clicks:3")).toBeNull();
  expect(badRecordsSearch({ record: "x", as: "octal", partition: "clicks:1" })).toEqual({
    partition: "clicks:1",
  });
});

test("a sample is of one record alone, by the spec of today", () => {
  const spec = {
    type: "kafka",
    spec: {
      dataSchema: { dataSource: "clicks" },
      ioConfig: { topicPattern: "c.*", useEarliestOffset: true, taskCount: 2 },
      tuningConfig: { badRecords: "drop" },
    },
  };

  expect(sampleOf(spec, PLACE)).toMatchObject({
    spec: {
      dataSchema: { dataSource: "clicks" },
      ioConfig: {
        type: "kafka",
        topic: "clicks",
        taskCount: 2,
        boundedStreamConfig: {
          startSequenceNumbers: { "3": "9223372036854775806" },
          endSequenceNumbers: { "3": "9223372036854775807" },
        },
      },
    },
    samplerConfig: { numRows: 1 },
  });
  expect(JSON.stringify(sampleOf(spec, PLACE))).not.toContain("topicPattern");
  expect(sampleOf(null, PLACE)).toBeNull();
  expect(policyOf(spec)).toContain("badRecords: drop");
  expect(policyOf({})).toBeNull();
});

const FIELDS = { topic: " again ", reason: "", partition: "", most: "10,000", keepTime: false };

test("a replay asks for what is filled in, and for nothing with another number", () => {
  expect(wantedOf(FIELDS)).toEqual({ topic: "again", most: 10_000, keepTime: false });
  expect(wantedOf({ ...FIELDS, reason: "empty", partition: "0", most: "1" })).toMatchObject({
    reason: "empty",
    partition: 0,
    most: 1,
  });
  for (const most of ["", "0", "-1", "1e3", String(MOST_MAX + 1)]) {
    expect(wantedOf({ ...FIELDS, most })).toBeNull();
  }
  expect([topicTrouble("a b"), topicTrouble("")].every(Boolean)).toBe(true);
  expect(topicTrouble("orders-again")).toBeUndefined();
});

function counted(start: string, ...counts: [string, number, number][]) {
  return {
    start,
    records: counts.reduce((sum, [, , records]) => sum + records, 0),
    counts: counts.map(([reason, partition, records]) => ({
      topic: "t",
      partition,
      reason,
      records,
    })),
  };
}

test("bars are shares of the highest one, with one gap where hours have none", () => {
  const buckets = [
    counted("2026-01-05T10:00:00Z", ["a", 10, 1], ["b", 2, 1]),
    counted("2026-01-05T11:00:00Z", ["a", 2, 4]),
    counted("2026-01-05T15:00:00Z", ["b", 2, 2]),
  ];
  const summary = { bucket: "hour", buckets, reasons: { b: 3, a: 5 } } as unknown as Summary;

  expect(colouredOf(summary)).toEqual(["a", "b"]);
  expect(partitionsOf(summary)).toEqual([2, 10]);
  expect(slotsOf(summary).map((slot) => slot.kind)).toEqual(["bar", "bar", "gap", "bar"]);
  expect(slotsOf(summary)[0]).toMatchObject({
    parts: [
      { colour: 0, share: 0.25 },
      { colour: 1, share: 0.25 },
    ],
  });
});

test("many reasons have one colour together", () => {
  const reasons = { a: 9, b: 8, c: 7, d: 1, e: 1 };
  const buckets = [counted("2026-01-05T10:00:00Z", ["a", 0, 2], ["d", 0, 1], ["e", 0, 1])];
  const summary = { bucket: "hour", buckets, reasons } as unknown as Summary;

  expect(colouredOf(summary)).toEqual(["a", "b", "c", OTHERS]);
  expect(slotsOf(summary)[0]).toMatchObject({ parts: [{ share: 0.5 }, {}, {}, { share: 0.5 }] });
});
