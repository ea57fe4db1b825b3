import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Got, get } from "@/api/client";
import type { Exact } from "@/api/json";
import type { Problem } from "@/api/problem";
import { type BadRecordsSearch, partitionOf } from "./search";

const PATH = "/api/v1/supervisors/{supervisor_id}/quarantine/summary";
const HOUR_MS = 3_600_000;
/** So many reasons have a colour of their own. */
export const COLOURS = 4;
export const OTHERS = "others";

export type Summary = Got<typeof PATH>;
type Bucket = Summary["buckets"][number];

/** Counts by time of what the filters leave; asked for again when another number is published. */
export function useSummary(id: string, search: BadRecordsSearch, published: Exact | undefined) {
  const query = {
    bucket: search.by ?? ("hour" as const),
    ...(partitionOf(search.partition ?? "") ?? {}),
    ...(search.reason === undefined ? {} : { reason: search.reason }),
  };
  return useQuery<Summary, Problem>({
    queryKey: ["quarantine", id, query, String(published), "summary"],
    queryFn: ({ signal }) => get(PATH, { path: { supervisor_id: id }, query }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });
}

/** The table of the supervisor whose bad records these are. */
export function tableOf({ dataSource }: Summary): string {
  return dataSource.replace(/__errors$/, "");
}

/** The partitions that have some, by number. */
export function partitionsOf({ buckets }: Summary): number[] {
  const all = buckets.flatMap(({ counts }) => counts.map(({ partition }) => partition));
  return [...new Set(all)].sort((one, other) => one - other);
}

/** The reasons with most records, each with a colour of its own; the others have one together. */
export function colouredOf({ reasons }: Summary): string[] {
  const names = Object.entries(reasons)
    .sort(([one, n], [other, m]) => Number(m) - Number(n) || (one < other ? -1 : 1))
    .map(([name]) => name);
  return names.length <= COLOURS ? names : [...names.slice(0, COLOURS - 1), OTHERS];
}

/** A bar: its parts by reason, as shares of the highest bar; or a time without bad records. */
export type Slot =
  | { kind: "bar"; start: string; records: Exact; parts: { colour: number; share: number }[] }
  | { kind: "gap"; from: string };

/** The bars in order of time, with one gap where hours or days have none. */
export function slotsOf(summary: Summary): Slot[] {
  const width = summary.bucket === "day" ? 24 * HOUR_MS : HOUR_MS;
  const highest = Math.max(...summary.buckets.map(({ records }) => Number(records)));
  const colours = colouredOf(summary);
  let next: number | null = null;
  return summary.buckets.flatMap((bucket) => {
    const start = Date.parse(bucket.start);
    const isLate = next !== null && start > next;
    const gap: Slot[] = isLate
      ? [{ kind: "gap", from: new Date(next ?? start).toISOString() }]
      : [];
    next = start + width;
    const parts = colours.map((name, colour) => ({
      colour,
      share: recordsOf(bucket, name, colours) / highest,
    }));
    return [...gap, { kind: "bar", start: bucket.start, records: bucket.records, parts } as const];
  });
}

function recordsOf({ counts }: Bucket, name: string, colours: readonly string[]): number {
  return counts
    .filter(({ reason }) => (reason === name ? true : name === OTHERS && !colours.includes(reason)))
    .reduce((sum, { records }) => sum + Number(records), 0);
}
