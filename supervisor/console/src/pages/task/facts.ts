import type { Exact } from "@/api/json";

/** Druid's end of a range whose end is not fixed: the largest number of 64 bits. */
const UNBOUNDED = 9_223_372_036_854_775_807n;

/** What the payload of a task says of its range; partitions by their names. */
export type Facts = {
  stream: string;
  group: number;
  start: ReadonlyMap<string, Exact>;
  /** Exclusive; null: it is not fixed yet. */
  end: ReadonlyMap<string, Exact> | null;
};

/** One partition of a task's range. */
export type OffsetRow = {
  partition: string;
  start: Exact;
  /** The next offset that the task would read; null: not known. */
  current: Exact | null;
  /** Exclusive; null: not fixed. */
  end: Exact | null;
  /** Unread records behind it; null: not known. */
  lag: Exact | null;
};

/** Reads what a payload says; null: it is not that of a task with a range. */
export function factsOf(payload: unknown): Facts | null {
  const io = memberOf(payload, "ioConfig");
  const first = memberOf(io, "startSequenceNumbers");
  const group = memberOf(io, "taskGroupId");
  const stream = memberOf(first, "stream");
  const start = countsOf(memberOf(first, "partitionSequenceNumberMap"));
  const end = countsOf(memberOf(memberOf(io, "endSequenceNumbers"), "partitionSequenceNumberMap"));
  if (typeof group !== "number" || typeof stream !== "string" || start.size === 0) {
    return null;
  }
  const isFixed = end.size > 0 && [...end.values()].every((each) => BigInt(each) !== UNBOUNDED);
  return { stream, group, start, end: isFixed ? end : null };
}

/** What a report says of a task: counters, reasons against records, samples, reading by partition. */
export type Counted = {
  processed: Exact;
  bytes: Exact;
  bad: Exact;
  /** Reason -> records that became no row for it. */
  rejected: ReadonlyMap<string, Exact>;
  /** Rows per second over the last minute; null: the task has ended, or is too young. */
  rowsPerSecond: number | null;
  /** Partition -> offsets that were read; empty while the task runs. */
  read: ReadonlyMap<string, Exact>;
  samples: readonly Sample[];
};

/** A record that became no row. */
export type Sample = {
  topic: string;
  partition: Exact;
  offset: Exact;
  reason: string;
  input: string;
};

/** Reads a report; null: it has another form. */
export function countedOf(report: unknown): Counted | null {
  const payload = memberOf(memberOf(report, "ingestionStatsAndErrors"), "payload");
  const stats = memberOf(payload, "rowStats");
  // Of a task that runs there are averages beside the totals.
  const totals = memberOf(stats, "totals") ?? stats;
  const counts = countsOf(memberOf(totals, "buildSegments"));
  if (counts.size === 0) {
    return null;
  }
  const rejected = countsOf(memberOf(totals, "rejected"));
  const averages = memberOf(memberOf(stats, "movingAverages"), "buildSegments");
  const perSecond = memberOf(memberOf(averages, "1m"), "processed");
  const samples = memberOf(memberOf(payload, "unparseableEvents"), "buildSegments");
  return {
    processed: counts.get("processed") ?? 0,
    bytes: counts.get("processedBytes") ?? 0,
    bad: [...rejected.values()].reduce<Exact>(plus, 0),
    rejected,
    rowsPerSecond: typeof perSecond === "number" ? perSecond : null,
    read: countsOf(memberOf(payload, "recordsProcessed")),
    samples: Array.isArray(samples) ? samples.map(sampleOf) : [],
  };
}

function sampleOf(sample: unknown): Sample {
  const details = memberOf(sample, "details");
  return {
    topic: String(memberOf(sample, "topic") ?? ""),
    partition: exactOf(memberOf(sample, "partition")) ?? 0,
    offset: exactOf(memberOf(sample, "offset")) ?? 0,
    reason: Array.isArray(details) ? details.map(String).join(": ") : "",
    input: String(memberOf(sample, "input") ?? ""),
  };
}

/** Positions and lag of a task that runs, as its supervisor's status has them. */
export type Position = {
  currentOffsets: Readonly<Record<string, Exact>>;
  lag?: Readonly<Record<string, Exact>> | undefined;
};

/** Puts together, per partition, where a task began, where it is, and where it ends. */
export function offsetsOf(
  { start, end }: Facts,
  position: Position | null,
  read: ReadonlyMap<string, Exact> | null,
): OffsetRow[] {
  return [...start].sort(byNumber).map(([partition, first]) => {
    const count = read?.get(partition);
    const ended = count === undefined ? null : plus(first, count);
    return {
      partition,
      start: first,
      current: position?.currentOffsets[partition] ?? ended,
      end: end?.get(partition) ?? null,
      lag: position?.lag?.[partition] ?? null,
    };
  });
}

function byNumber([one]: [string, Exact], [other]: [string, Exact]): number {
  return one.localeCompare(other, "en", { numeric: true });
}

/** Adds without losing digits. */
export function plus(one: Exact, other: Exact): Exact {
  const sum = BigInt(one) + BigInt(other);
  return BigInt(Number(sum)) === sum && Number.isSafeInteger(Number(sum)) ? Number(sum) : sum;
}

function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Record<string, unknown>)[name] : undefined;
}

function countsOf(value: unknown): Map<string, Exact> {
  const counts = new Map<string, Exact>();
  if (typeof value === "object" && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      const count = exactOf(each);
      if (count !== null) {
        counts.set(name, count);
      }
    }
  }
  return counts;
}

function exactOf(value: unknown): Exact | null {
  return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))
    ? value
    : null;
}
