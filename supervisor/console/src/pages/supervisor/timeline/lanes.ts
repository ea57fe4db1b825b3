import { extentOf, type Range } from "./phases";

/** A range with its place in a lane; ranges that overlap are in different rows. */
export type Placed = { range: Range; row: number };
/** The ranges of one group, oldest first. */
export type Lane = { group: number; rows: number; placed: Placed[] };

/** A range publishes while its successor reads: two rows are common, more are rare. */
const ROWS_MAX = 4;

/** Divides ranges into a lane per group, and each lane into as few rows as keep ranges apart. */
export function lanesOf(ranges: readonly Range[], now: number): Lane[] {
  const groups = new Map<number, Range[]>();
  for (const range of ranges) {
    const mine = groups.get(range.group);
    if (mine === undefined) {
      groups.set(range.group, [range]);
    } else {
      mine.push(range);
    }
  }
  return [...groups]
    .sort(([one], [other]) => one - other)
    .map(([group, mine]) => laneOf(group, mine, now));
}

function laneOf(group: number, ranges: readonly Range[], now: number): Lane {
  const ordered = [...ranges].sort((one, other) => one.ordinal - other.ordinal);
  const ends: number[] = [];
  const placed = ordered.map((range) => {
    const [from, to] = extentOf(range, now);
    const free = ends.findIndex((end) => end <= from);
    const row = free >= 0 ? free : Math.min(ends.length, ROWS_MAX - 1);
    ends[row] = Math.max(ends[row] ?? 0, to);
    return { range, row };
  });
  return { group, rows: Math.max(ends.length, 1), placed };
}

/** Returns the range whose place is nearest to `x`, of one row if there is one there. */
export function nearest(
  { placed }: Lane,
  row: number | null,
  x: number,
  placeOf: (range: Range) => readonly [number, number],
): Range | null {
  const inRow = placed.filter((each) => each.row === row);
  let best: Range | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const { range } of inRow.length > 0 ? inRow : placed) {
    const [from, to] = placeOf(range);
    const distance = x < from ? from - x : Math.max(x - to, 0);
    if (distance <= least) {
      best = range;
      least = distance;
    }
  }
  return best;
}

/** Returns the range so many steps after the one that is open; without one the newest. */
export function neighbour({ placed }: Lane, open: string | undefined, step: number): Range {
  const last = placed.length - 1;
  const at = placed.findIndex(({ range }) => range.id === open);
  const to = at < 0 ? last : Math.min(Math.max(at + step, 0), last);
  const { range } = placed[to] ?? {};
  if (range === undefined) {
    throw new Error("a lane has a range");
  }
  return range;
}
