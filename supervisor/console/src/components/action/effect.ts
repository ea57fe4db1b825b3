import type { Exact } from "@/api/json";
import { exact } from "@/text/numbers";
import type { VerbPreview } from "./action";

/** What becomes of a range. */
export type Fate = "publishes" | "ends" | "again" | "lost" | "stays";

/** What becomes of one partition of a range. */
export type EffectRow = {
  /** The fate and the range: what a digest binds. */
  bound: string;
  fate: Fate;
  group: number;
  topic: string;
  partition: number;
  from: Exact;
  /** The fixed end, or the next offset to be read; null: not known. */
  to: Exact | null;
  /** Whether `to` moves on while tasks read. */
  moves: boolean;
};

/** A number that has to be typed, and what it counts. */
export type Confirm = { number: string; what: string };

/** Verbs that take files out of a table. */
const TAKES_OUT: ReadonlySet<string> = new Set(["mark-unused", "set-retention"]);

type Range = NonNullable<VerbPreview["publishes"]>[number];

/** Returns what becomes of each range, partition by partition; what is given up is first. */
export function rowsOf({ ends, publishes, stays, givesUp }: VerbPreview): EffectRow[] {
  const stay = idsOf(stays);
  const away = new Set([...idsOf(publishes), ...idsOf(givesUp), ...stay]);
  const read = readBy(ends ?? []);
  return [
    ...(givesUp ?? []).flatMap((range) =>
      partsOf(range, stay.has(range.generationId) ? "again" : "lost", read),
    ),
    ...(publishes ?? []).flatMap((range) => partsOf(range, "publishes", read)),
    ...once(ends ?? [])
      .filter(({ generationId }) => !away.has(generationId))
      .flatMap((range) => partsOf(range, "ends", read)),
    ...(stays ?? [])
      .filter(({ generationId }) => !idsOf(givesUp).has(generationId))
      .flatMap((range) => partsOf(range, "stays", new Map())),
  ];
}

/** What two previews do differently, by `bound`. */
export function changedBetween(read: VerbPreview | null, newer: VerbPreview | null): Set<string> {
  if (read === null || newer === null) {
    return new Set();
  }
  const before = new Set(rowsOf(read).map(({ bound }) => bound));
  return new Set(
    rowsOf(newer)
      .map(({ bound }) => bound)
      .filter((bound) => !before.has(bound)),
  );
}

/** What has to be typed before it is done: where records are lost or come in twice, their number. */
export function confirmOf(preview: VerbPreview): Confirm | null {
  const lost = rowsOf(preview).filter(({ fate }) => fate === "lost");
  if (lost.length > 0) {
    const counts = lost.map(({ from, to }) => (to === null ? null : BigInt(to) - BigInt(from)));
    return counts.includes(null)
      ? { number: String(new Set(lost.map(({ bound }) => bound)).size), what: "ranges are lost" }
      : { number: String(counts.reduce(sum, 0n)), what: "records come into no table" };
  }
  const rows = preview.files?.rows ?? 0;
  if (TAKES_OUT.has(preview.verb) && rows > 0) {
    return { number: String(rows), what: "rows leave the table" };
  }
  return preview.verb === "forget" && rows > 0
    ? { number: String(rows), what: "rows would come in a second time" }
    : null;
}

/** Whether what is typed is the number; spaces and commas between its digits do not count. */
export function isConfirmed(typed: string, wanted: string | null): boolean {
  return wanted === null || typed.replaceAll(/[ ,]/g, "") === wanted;
}

export function labelOf({ number, what }: Confirm): string {
  const digits = /^\d+$/.test(number) ? exact(BigInt(number)) : number;
  return `Type ${digits} to confirm${what === "" ? "" : `: so many ${what}`}`;
}

function partsOf(range: Range, fate: Fate, read: ReadonlyMap<string, Exact>): EffectRow[] {
  return range.offsets.map(({ topic, partition, from, to }) => ({
    bound: `${fate} ${range.generationId}`,
    fate,
    group: range.group,
    topic,
    partition,
    from,
    to: to ?? read.get(partKey(range.generationId, topic, partition)) ?? null,
    moves: to === null || fate === "ends",
  }));
}

/** How far the furthest task has read each partition of each range. */
function readBy(tasks: NonNullable<VerbPreview["ends"]>): ReadonlyMap<string, Exact> {
  const furthest = new Map<string, Exact>();
  for (const { generationId, offsets } of tasks) {
    for (const { topic, partition, to } of offsets) {
      const key = partKey(generationId, topic, partition);
      const before = furthest.get(key);
      if (to !== null && (before === undefined || to > before)) {
        furthest.set(key, to);
      }
    }
  }
  return furthest;
}

function partKey(generationId: string, topic: string, partition: number): string {
  return `${generationId} ${topic}:${partition}`;
}

/** The ranges of tasks, each of them once. */
function once(tasks: readonly Range[]): Range[] {
  return [...new Map(tasks.map((task) => [task.generationId, task])).values()];
}

function idsOf(ranges: readonly Range[] | null | undefined): Set<string> {
  return new Set((ranges ?? []).map(({ generationId }) => generationId));
}

function sum(total: bigint | null, each: bigint | null): bigint {
  return (total ?? 0n) + (each ?? 0n);
}
