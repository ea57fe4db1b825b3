import { describe, expect, it } from "vitest";
import {
  type Counts,
  type Coverage,
  currentOf,
  isOpen,
  KINDS,
  piecesOf,
  type Run,
  runsOf,
  sumOf,
} from "./shape";

const NONE: Counts = {
  committed: 0,
  published: 0,
  publishing: 0,
  reading: 0,
  skipped: 0,
  lost: 0,
  repeated: 0,
  unexplained: 0,
};

const UNCOUNTED = { rows: null, rejected: null, generations: null };

describe("the bar of a partition", () => {
  it("has no offsets of an earlier topic", () => {
    const runs: Run[] = [
      { from: 0, to: 90, kind: "recreated" },
      { from: 0, to: 3, kind: "published" },
    ];

    expect(currentOf(runs)).toEqual([{ from: 0, to: 3, kind: "published" }]);
    expect(KINDS).not.toContain("recreated");
  });

  it("gives each run its share of the offsets", () => {
    const pieces = piecesOf(
      [
        { from: 0, to: 600, kind: "published" },
        { from: 600, to: 900, kind: "publishing" },
        { from: 900, to: 1_000, kind: "reading" },
      ],
      0,
      600,
    );

    expect(pieces).toEqual([
      { kind: "published", at: 0, width: 0.6 },
      { kind: "publishing", at: 0.6, width: 0.3 },
      { kind: "reading", at: 0.9, width: 0.1 },
    ]);
  });

  it("hides no lost record among millions, not even the last one", () => {
    const pieces = piecesOf(
      [
        { from: 0, to: 9_999_999, kind: "published" },
        { from: 9_999_999, to: 10_000_000, kind: "lost" },
      ],
      0,
      10_000_000,
    );

    const last = pieces.at(-1);
    expect(last?.kind).toBe("lost");
    expect(last?.width).toBe(0.012);
    expect((last?.at ?? 0) + 0.012).toBeLessThanOrEqual(1);
  });

  it("draws trouble over what lies beside it", () => {
    const kinds = piecesOf(
      [
        { from: 0, to: 1, kind: "unexplained" },
        { from: 1, to: 1_000, kind: "published" },
      ],
      0,
      1_000,
    ).map(({ kind }) => kind);

    expect(kinds).toEqual(["published", "unexplained"]);
  });

  it("keeps each digit of offsets near the last one that there is", () => {
    const first = 9_223_372_036_854_775_000n;
    const next = 9_223_372_036_854_775_800n;

    const middle = 9_223_372_036_854_775_400n;
    const pieces = piecesOf(
      [
        { from: first, to: middle, kind: "published" },
        { from: middle, to: next, kind: "lost" },
      ],
      first as unknown as number,
      next as unknown as number,
    );

    expect(pieces.map(({ at, width }) => [at, width])).toEqual([
      [0, 0.5],
      [0.5, 0.5],
    ]);
  });

  it("is empty where nothing was read", () => {
    expect(piecesOf([], 5, 5)).toEqual([]);
  });
});

describe("the sum of a partition", () => {
  it("accounts for each committed offset", () => {
    const sum = sumOf({ ...NONE, committed: 99_120, published: 97_916, lost: 1_204, reading: 7 });

    expect(sum).toEqual({
      committed: 99_120n,
      parts: [
        { kind: "published", offsets: 97_916n },
        { kind: "lost", offsets: 1_204n },
      ],
      beyond: 0n,
      adds: true,
      unexplained: 0n,
    });
  });

  it("says how many offsets lie behind a committed one that was set back", () => {
    const sum = sumOf({ ...NONE, committed: 4, published: 4, repeated: 5 });

    expect(sum.beyond).toBe(5n);
    expect(sum.adds).toBe(true);
  });

  it("does not add up where offsets are missing on both sides", () => {
    expect(sumOf({ ...NONE, committed: 10, published: 9 }).adds).toBe(false);
    expect(sumOf({ ...NONE, committed: 10, published: 9, unexplained: 1 }).adds).toBe(true);
  });
});

describe("a list of partitions", () => {
  it("knows which of them somebody may want to look at", () => {
    expect(isOpen({ counts: { ...NONE, published: 9, reading: 3 }, recreatedAt: null })).toBe(
      false,
    );
    expect(isOpen({ counts: { ...NONE, lost: 1 }, recreatedAt: null })).toBe(true);
    expect(isOpen({ counts: NONE, recreatedAt: "2026-01-01T00:00:00Z" })).toBe(true);
  });

  it("names each run once, also where two supervisors read one topic", () => {
    const partition = {
      topic: "t",
      partition: 0,
      firstOffset: 0,
      nextOffset: 2,
      recreatedAt: null,
      counts: NONE,
      runs: [
        { from: 0, to: 1, kind: "recreated" as const, ...UNCOUNTED },
        { from: 0, to: 1, kind: "published" as const, ...UNCOUNTED },
        { from: 1, to: 2, kind: "lost" as const, ...UNCOUNTED },
      ],
      more: false,
    };
    const of = (supervisorId: string) => ({ supervisorId, partitions: [partition] }) as Coverage;

    const ids = runsOf([of("a"), of("b")]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
  });
});
