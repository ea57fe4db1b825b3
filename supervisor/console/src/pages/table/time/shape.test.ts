import { describe, expect, it } from "vitest";
import { bucketFor, highestOf, partsOf, slotsOf, sumsOf, type TimeBucket, windowOf } from "./shape";

const DAY = 86_400_000;

function bucket(day: number, part: Partial<TimeBucket> = {}): TimeBucket {
  const start = `2026-01-${String(day).padStart(2, "0")}T00:00:00Z`;
  return { start, rows: 10, bytes: 100, files: 4, small: 1, unused: 2, ...part };
}

describe("the bars of a table", () => {
  it("fold a long time without files, and show a short one", () => {
    const slots = slotsOf([bucket(1), bucket(3), bucket(20)], DAY);

    expect(slots.map((each) => (each.kind === "gap" ? each.buckets : each.bucket.start))).toEqual([
      "2026-01-01T00:00:00Z",
      1,
      "2026-01-03T00:00:00Z",
      16,
      "2026-01-20T00:00:00Z",
    ]);
  });

  it("divide files into plain, small and unused ones", () => {
    const one = bucket(1);

    expect(highestOf([one, bucket(2, { files: 1, unused: 0 })], "files")).toBe(6);
    expect(partsOf(one, "files", 6)).toEqual({ plain: 0.5, small: 1 / 6, unused: 2 / 6 });
  });

  it("have one part for rows, also beyond 2^53", () => {
    const many = bucket(1, { rows: 9_007_199_254_740_993n as unknown as number });

    expect(partsOf(many, "rows", highestOf([many], "rows"))).toEqual({
      plain: 1,
      small: 0,
      unused: 0,
    });
    expect(sumsOf([many, bucket(2, { rows: 7 })]).rows).toBe(9_007_199_254_741_000n);
  });

  it("are nothing where all rows were taken out", () => {
    const empty = bucket(1, { rows: 0 });

    expect(partsOf(empty, "rows", highestOf([empty], "rows")).plain).toBe(0);
  });

  it("take numbers that no double is", () => {
    const huge = 9_007_199_254_740_993n as unknown as number;
    const many = bucket(1, { rows: huge, files: huge, small: huge, unused: 0 });

    expect(partsOf(many, "rows", highestOf([many], "rows")).plain).toBe(1);
    expect(partsOf(many, "files", highestOf([many], "files")).small).toBe(1);
  });
});

describe("the bucket that a page begins with", () => {
  it.each([
    [2 * DAY, 3_600_000, "PT1H"],
    [2 * DAY, DAY, "P1D"],
    [30 * DAY, 3_600_000, "PT6H"],
    [5_000 * DAY, DAY, "P30D"],
    [90_000 * DAY, DAY, "P30D"],
    [2 * DAY, 365 * DAY, "P30D"],
  ])("of %d ms with files of %d ms is %s", (span, file, name) => {
    expect(bucketFor(span, file)).toBe(name);
  });
});

describe("the files of some bars", () => {
  it("lie from the first begin to the last end", () => {
    expect(windowOf(bucket(1), bucket(3), DAY, 3_600_000)).toEqual({
      from: "2026-01-01T00:00:00Z",
      to: "2026-01-04T00:00:00Z",
    });
  });

  it("may be longer than their bars", () => {
    const { to } = windowOf(bucket(1), bucket(1), 3_600_000, DAY);

    expect(to).toBe("2026-01-02T01:00:00Z");
  });
});
