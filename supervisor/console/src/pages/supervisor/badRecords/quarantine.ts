import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type Got, get } from "@/api/client";
import type { Exact } from "@/api/json";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { type BadRecordsSearch, partitionOf } from "./search";

const PATH = "/api/v1/supervisors/{supervisor_id}/quarantine";
const PAGE = 100;

type Page = Got<typeof PATH>;
export type BadRecord = Page["records"][number];

/** Records, with reason -> how many, of all pages. */
export type Kept = { records: BadRecord[]; reasons: Record<string, Exact>; isWhole: boolean };

/**
 * The records that are kept, page by page.  Their files are read for each answer: they are asked for
 * again when another number of them is published, not by time.
 */
export function useKept(id: string, search: BadRecordsSearch, published: Exact | undefined) {
  const place = partitionOf(search.partition ?? "");
  const narrowed = place ?? {};
  const query = { ...narrowed, ...(search.reason === undefined ? {} : { reason: search.reason }) };
  const list = useInfiniteQuery<Page, Problem, { pages: Page[] }>({
    queryKey: ["quarantine", id, query, String(published)],
    queryFn: ({ pageParam, signal }) =>
      get(
        PATH,
        {
          path: { supervisor_id: id },
          query: { ...query, limit: PAGE, ...afterOf(pageParam) },
        },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });
  // Of a list of one reason the first page counts that reason alone.
  const all = useQuery<Page, Problem>({
    queryKey: ["quarantine", id, narrowed, String(published), "counts"],
    queryFn: ({ signal }) =>
      get(PATH, { path: { supervisor_id: id }, query: { ...narrowed, limit: 1 } }, signal),
    enabled: search.reason !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const more = useMore(list);
  const [first] = list.data?.pages ?? [];
  const data: Kept | undefined = first && {
    records: list.data?.pages.flatMap(({ records }) => records) ?? [],
    reasons: (search.reason === undefined ? first.reasons : all.data?.reasons) ?? {},
    isWhole: !list.hasNextPage,
  };
  return { data, error: list.error, refetch: list.refetch, more };
}

function afterOf(pageParam: unknown): { after?: string } {
  return typeof pageParam === "string" ? { after: pageParam } : {};
}

export function nameOf({ topic, partition, offset }: BadRecord): string {
  return `${topic}:${partition}:${offset}`;
}

/** Sums counts without losing digits. */
export function sumOf(counts: Readonly<Record<string, Exact>>): bigint {
  return Object.values(counts).reduce<bigint>((sum, each) => sum + BigInt(each), 0n);
}

/** How many of some records each partition has, by name. */
export function byPartition(records: readonly BadRecord[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { topic, partition } of records) {
    const name = `${topic}:${partition}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));
}
