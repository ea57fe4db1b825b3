import type { Exact } from "@/api/json";

/** Offsets of a partition; null: not known. */
export type Offsets = {
  earliest: Exact | null;
  committed: Exact | null;
  /** The furthest position of its tasks. */
  reading: Exact | null;
  stable: Exact | null;
  latest: Exact | null;
};

/** What becomes of the records between two offsets. */
export type Kind = "published" | "read" | "unread" | "open";
/** A piece of the bar, in thousandths of the retained log. */
export type Piece = { kind: Kind; from: number; to: number };

const WHOLE = 1_000n;

/**
 * Divides what Kafka retains into published, read and not published, unread, and behind an open
 * transaction.  Returns null if the ends of the log are not known, and nothing of an empty log.
 */
export function piecesOf(offsets: Offsets): Piece[] | null {
  if (offsets.earliest === null || offsets.latest === null) {
    return null;
  }
  const begin = BigInt(offsets.earliest);
  const end = BigInt(offsets.latest);
  const within = (offset: Exact | null, least: bigint): bigint => {
    const at = offset === null ? least : BigInt(offset);
    return at < least ? least : at > end ? end : at;
  };
  const committed = within(offsets.committed, begin);
  const reading = within(offsets.reading, committed);
  const stable = offsets.stable === null ? end : within(offsets.stable, reading);
  const bounds: [Kind, bigint, bigint][] = [
    ["published", begin, committed],
    ["read", committed, reading],
    ["unread", reading, stable],
    ["open", stable, end],
  ];
  const size = end - begin;
  return bounds
    .filter(([, from, to]) => to > from)
    .map(([kind, from, to]) => ({
      kind,
      from: Number(((from - begin) * WHOLE) / size),
      to: Number(((to - begin) * WHOLE) / size),
    }));
}

/** The furthest offset of some; null: there is none. */
export function furthest(positions: readonly (Exact | null)[]): Exact | null {
  const known = positions.filter((each) => each !== null);
  return known.length === 0
    ? null
    : known.reduce((most, each) => (BigInt(each) > BigInt(most) ? each : most));
}

/** How many records lie between two offsets; null: one of them is not known. */
export function distance(from: Exact | null, to: Exact | null): Exact | null {
  if (from === null || to === null) {
    return null;
  }
  const records = BigInt(to) - BigInt(from);
  return records > BigInt(Number.MAX_SAFE_INTEGER) ? records : Number(records);
}
