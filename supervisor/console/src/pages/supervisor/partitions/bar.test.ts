import { expect, test } from "vitest";
import { distance, furthest, piecesOf } from "./bar";

const NOTHING = { earliest: null, committed: null, reading: null, stable: null, latest: null };

test("the retained log is divided without gaps or overlaps", () => {
  const pieces = piecesOf({
    earliest: 100,
    committed: 600,
    reading: 850,
    stable: 1_000,
    latest: 1_100,
  });

  expect(pieces).toEqual([
    { kind: "published", from: 0, to: 500 },
    { kind: "read", from: 500, to: 750 },
    { kind: "unread", from: 750, to: 900 },
    { kind: "open", from: 900, to: 1_000 },
  ]);
});

test("offsets beyond 2^53 are divided exactly", () => {
  const latest = 9_223_372_036_854_775_807n;

  expect(
    piecesOf({
      earliest: latest - 4n,
      committed: latest - 3n,
      reading: latest - 1n,
      stable: latest,
      latest,
    }),
  ).toEqual([
    { kind: "published", from: 0, to: 250 },
    { kind: "read", from: 250, to: 750 },
    { kind: "unread", from: 750, to: 1_000 },
  ]);
  expect(distance(-1n, latest)).toBe(9_223_372_036_854_775_808n);
});

test("an offset that Kafka does not hold is drawn at the end of what it holds", () => {
  const lost = piecesOf({ earliest: 500, committed: 100, reading: null, stable: 900, latest: 900 });
  const beyond = piecesOf({ earliest: 0, committed: 900, reading: 950, stable: 10, latest: 10 });

  expect(lost).toEqual([{ kind: "unread", from: 0, to: 1_000 }]);
  expect(beyond).toEqual([{ kind: "published", from: 0, to: 1_000 }]);
});

test("what is not known is not drawn, and an empty log has no piece", () => {
  expect(piecesOf(NOTHING)).toBeNull();
  expect(piecesOf({ ...NOTHING, earliest: 7, latest: 7 })).toEqual([]);
  expect(furthest([null, 3, 9_007_199_254_740_993n, 4])).toBe(9_007_199_254_740_993n);
  expect(furthest([null])).toBeNull();
  expect(distance(null, 3)).toBeNull();
});
