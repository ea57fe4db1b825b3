import type { Got } from "@/api/client";
import type { Exact } from "@/api/json";

export type Coverage = Got<"/api/v1/supervisors/{supervisor_id}/coverage">;
export type Covered = Coverage["partitions"][number];
export type Counts = Covered["counts"];
export type Kind = Covered["runs"][number]["kind"];
export type Run = { from: Exact; to: Exact; kind: Kind };
/** A run with what the ledger has of it; null: not known of these offsets alone. */
export type CountedRun = Covered["runs"][number];

/** What became of offsets, in words; the order is that of the sum. */
export const WORDS: Readonly<Record<Kind, string>> = {
  published: "published",
  repeated: "read again",
  skipped: "skipped on request",
  lost: "declared lost",
  unexplained: "unexplained",
  publishing: "being published",
  reading: "read so far",
  recreated: "of an earlier topic",
};
/** Kinds of offsets of the topic as it is now, which a bar has. */
export const KINDS = (Object.keys(WORDS) as Kind[]).filter((kind) => kind !== "recreated");
/** Kinds of offsets that were committed. */
const SETTLED = ["published", "repeated", "skipped", "lost", "unexplained"] as const;
/** Kinds that a bar must not hide, however few offsets they have. */
const TROUBLE: ReadonlySet<Kind> = new Set(["lost", "unexplained", "skipped", "repeated"]);

/** A piece of a bar, in shares of its width. */
export type Piece = { kind: Kind; at: number; width: number };
/** The least share of the width that trouble has, and anything else. */
const LEAST = { trouble: 0.012, other: 0.003 };
const PARTS = 1_000_000n;

/** The runs of the topic as it is now: those of earlier ones have offsets of their own. */
export function currentOf<T extends { kind: Kind }>(runs: readonly T[]): T[] {
  return runs.filter(({ kind }) => kind !== "recreated");
}

/**
 * Lays runs out on a bar from its first offset to its last.  Short runs are drawn wider than they
 * are; those that need somebody come last, so that they lie on top.
 */
export function piecesOf(runs: readonly Run[], first: Exact, next: Exact): Piece[] {
  const begin = least(first, runs[0]?.from);
  const end = most(next, runs.at(-1)?.to);
  if (end <= begin) {
    return [];
  }
  const share = (offsets: bigint) => Number((offsets * PARTS) / (end - begin)) / Number(PARTS);
  const pieces = runs.map(({ from, to, kind }) => {
    const shortest = TROUBLE.has(kind) ? LEAST.trouble : LEAST.other;
    const width = Math.min(1, Math.max(share(BigInt(to) - BigInt(from)), shortest));
    return { kind, at: Math.min(share(BigInt(from) - begin), 1 - width), width };
  });
  const isOnTop = ({ kind }: Piece) => Number(TROUBLE.has(kind));
  return pieces.sort((one, other) => isOnTop(one) - isOnTop(other));
}

function least(one: Exact, other: Exact | undefined): bigint {
  const value = BigInt(one);
  return other !== undefined && BigInt(other) < value ? BigInt(other) : value;
}

function most(one: Exact, other: Exact | undefined): bigint {
  const value = BigInt(one);
  return other !== undefined && BigInt(other) > value ? BigInt(other) : value;
}

/** The sum of a partition, or of all: how its committed offsets are accounted for. */
export type Sum = {
  committed: bigint;
  /** Kinds that it has offsets of; published is always there. */
  parts: { kind: Kind; offsets: bigint }[];
  /** Offsets of the parts behind the committed one: it was set back before them. */
  beyond: bigint;
  /** Whether both sides are equal, which no counting of ours may hide. */
  adds: boolean;
  unexplained: bigint;
};

export function sumOf(counts: Counts): Sum {
  const committed = BigInt(counts.committed);
  const parts = SETTLED.filter((kind) => kind !== "unexplained")
    .map((kind) => ({ kind, offsets: BigInt(counts[kind]) }))
    .filter(({ kind, offsets }) => kind === "published" || offsets > 0n);
  const unexplained = BigInt(counts.unexplained);
  const total = parts.reduce((sum, { offsets }) => sum + offsets, unexplained);
  const beyond = total > committed ? total - committed : 0n;
  return { committed, parts, beyond, adds: total - beyond === committed, unexplained };
}

/** A run of one partition of one supervisor, as a table lists it. */
export type ListedRun = CountedRun & { id: string; supervisor: string; partition: string };

/** All runs of some coverages; a partition whose older runs are left out says so. */
export function runsOf(coverages: readonly Coverage[]): ListedRun[] {
  return coverages.flatMap(({ supervisorId, partitions }) =>
    partitions.flatMap(({ topic, partition, runs }) =>
      runs.map((run) => ({
        ...run,
        id: `${supervisorId} ${topic}:${partition} ${run.from} ${run.to} ${run.kind}`,
        supervisor: supervisorId,
        partition: `${topic}:${partition}`,
      })),
    ),
  );
}

/** A partition of one supervisor, as a table lists it. */
export type ListedPartition = Covered & { id: string; supervisor: string };

export function partitionsOf(coverages: readonly Coverage[]): ListedPartition[] {
  return coverages.flatMap(({ supervisorId, partitions }) =>
    partitions.map((each) => ({
      ...each,
      id: `${supervisorId} ${each.topic}:${each.partition}`,
      supervisor: supervisorId,
    })),
  );
}

/** Whether offsets of a partition are anything but published, or about to be. */
export function isOpen({ counts, recreatedAt }: Pick<Covered, "counts" | "recreatedAt">): boolean {
  const { unexplained, lost, skipped, repeated } = counts;
  return recreatedAt !== null || [unexplained, lost, skipped, repeated].some((each) => each > 0);
}
