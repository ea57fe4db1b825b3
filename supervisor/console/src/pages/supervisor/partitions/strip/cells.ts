import { exact } from "@/text/numbers";
import { span } from "@/text/times";
import { visible } from "@/text/visible";
import { nameOf, type PartitionRow } from "../rows";

/** How old the oldest unread record of a partition is, from nothing unread to an hour and more. */
export const HEATS = ["none", "seconds", "minutes", "tens", "hours", "unknown"] as const;
export type Heat = (typeof HEATS)[number];

export const HEAT_WORDS: Record<Heat, string> = {
  none: "nothing unread",
  seconds: "under 1 min",
  minutes: "under 10 min",
  tens: "under 1 h",
  hours: "1 h and more",
  unknown: "age not known",
};

const MINUTE_MS = 60_000;
const BELOW: readonly (readonly [Heat, number])[] = [
  ["seconds", MINUTE_MS],
  ["minutes", 10 * MINUTE_MS],
  ["tens", 60 * MINUTE_MS],
];

export type Cell = {
  /** `topic:number`. */
  name: string;
  heat: Heat;
  /** Whether Kafka may delete records before they are read, or the partition has a trouble. */
  isMarked: boolean;
  words: string;
};

/** Cells that follow each other and look alike: one shape, however many they are. */
export type Stretch = { heat: Heat; from: number; to: number };

/** One cell per partition, by topic and number: a cell keeps its place, whatever the list's order. */
export function cellsOf(rows: readonly PartitionRow[]): Cell[] {
  return [...rows].sort(byPlace).map((row) => ({
    name: nameOf(row),
    heat: heatOf(row),
    isMarked: row.atRisk || row.trouble !== null,
    words: wordsOf(row),
  }));
}

function byPlace(a: PartitionRow, b: PartitionRow): number {
  if (a.topic !== b.topic) {
    return a.topic < b.topic ? -1 : 1;
  }
  return a.partition - b.partition;
}

export function heatOf({ lagRecords, lagMillis }: PartitionRow): Heat {
  if (lagRecords !== null && lagRecords <= 0) {
    return "none";
  }
  if (lagMillis === null) {
    return "unknown";
  }
  return BELOW.find(([, most]) => lagMillis < most)?.[0] ?? "hours";
}

/** Says of a partition what its colour, its height and its mark say. */
function wordsOf(row: PartitionRow): string {
  const { lagRecords, lagMillis, headroomMillis, atRisk, trouble } = row;
  const isRead = lagRecords !== null && lagRecords <= 0;
  const unread = lagRecords === null ? "its lag is not known" : `${exact(lagRecords)} unread`;
  const age = lagMillis === null ? "their age is not known" : `the oldest ${span(lagMillis)} ago`;
  const headroom = headroomMillis === null ? "" : ` in ${span(headroomMillis)}`;
  return [
    visible(nameOf(row)),
    isRead ? HEAT_WORDS.none : lagRecords === null ? unread : `${unread}, ${age}`,
    ...(atRisk ? [`at risk: Kafka deletes unread records${headroom}`] : []),
    ...(trouble === null ? [] : [visible(trouble.text)]),
  ].join(" · ");
}

export function stretchesOf(cells: readonly Cell[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [at, { heat }] of cells.entries()) {
    const last = stretches.at(-1);
    if (last?.heat === heat) {
      last.to = at + 1;
    } else {
      stretches.push({ heat, from: at, to: at + 1 });
    }
  }
  return stretches;
}

/** How many cells of each heat there are, without those that none has. */
export function countsOf(cells: readonly Cell[]): [Heat, number][] {
  const counts = new Map<Heat, number>(HEATS.map((heat) => [heat, 0]));
  for (const { heat } of cells) {
    counts.set(heat, (counts.get(heat) ?? 0) + 1);
  }
  return [...counts].filter(([, number]) => number > 0);
}

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

/** The cell that a key leads to from another; undefined: the key leads nowhere. */
export function cellAfter(key: string, at: number, count: number): number | undefined {
  if (key === "Home" || key === "End") {
    return key === "Home" ? 0 : count - 1;
  }
  const step = STEPS[key];
  return step === undefined ? undefined : Math.min(Math.max(at + step, 0), count - 1);
}
