import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { type Got, get, type Params } from "@/api/client";
import type { Problem } from "@/api/problem";
import { POLL_MS } from "@/api/query";
import type { PartitionsSearch } from "../search";

const PATH = "/api/v1/supervisors/{supervisor_id}/partitions";
const MOST = 1_000;
const HOUR_MS = 3_600_000;
/** Retention that reaches unread records sooner than this is a risk. */
export const RISK_MS = 6 * HOUR_MS;

type Page = Got<typeof PATH>;
type Query = NonNullable<Params<typeof PATH, "get">["query"]>;
type Sort = NonNullable<Query["sort"]>;
export type PartitionRow = Page["partitions"][number];

export type ListedPartitions = {
  rows: PartitionRow[];
  count: number;
  readAt: string | null;
  trouble: Page["trouble"];
};

/** Whether unread records may soon be lost, or cannot be read any more. */
export function isAtRisk({ trouble, headroomMillis }: PartitionRow): boolean {
  return trouble !== null || (headroomMillis !== null && headroomMillis < RISK_MS);
}

/** Whether it has unread records, or nobody knows that it has none. */
export function isBehind({ lagRecords }: PartitionRow): boolean {
  return lagRecords === null || lagRecords > 0;
}

/** The partitions in the server's order, page by page; a filter looks through all pages. */
export function usePartitions(id: string, { sort, only }: PartitionsSearch) {
  const order = (sort ?? "partition") as Sort;
  const query = useInfiniteQuery<Page, Problem, { pages: Page[] }>({
    queryKey: [PATH, { path: { supervisor_id: id }, query: { sort: order } }],
    queryFn: ({ pageParam, signal }) =>
      get(
        PATH,
        {
          path: { supervisor_id: id },
          query: {
            sort: order,
            limit: MOST,
            ...(typeof pageParam === "string" ? { cursor: pageParam } : {}),
          },
        },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) {
      void fetchNextPage();
    }
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const data = useMemo(() => listedOf(query.data?.pages, only), [query.data, only]);
  return { data, error: query.error, refetch: query.refetch, more, isWhole: !hasNextPage };
}

export function listedOf(
  pages: readonly Page[] | undefined,
  only: PartitionsSearch["only"],
): ListedPartitions | undefined {
  const newest = pages?.at(-1);
  if (pages === undefined || newest === undefined) {
    return undefined;
  }
  // A partition that moves between two pages may be in both.
  const rows = new Map(
    pages.flatMap(({ partitions }) => partitions).map((row) => [nameOf(row), row] as const),
  );
  const fits = only === "behind" ? isBehind : only === "risk" ? isAtRisk : () => true;
  return {
    rows: [...rows.values()].filter(fits),
    count: newest.count,
    readAt: newest.readAt,
    trouble: newest.trouble,
  };
}

export function nameOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}:${partition}`;
}
