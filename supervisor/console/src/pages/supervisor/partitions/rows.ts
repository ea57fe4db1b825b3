import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { type Got, get, type Params } from "@/api/client";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import type { PartitionsSearch } from "../search";

const PATH = "/api/v1/supervisors/{supervisor_id}/partitions";
const MOST = 1_000;

type Page = Got<typeof PATH>;
type Query = NonNullable<Params<typeof PATH, "get">["query"]>;
type Sort = NonNullable<Query["sort"]>;
export type PartitionRow = Page["partitions"][number];

export type ListedPartitions = {
  rows: PartitionRow[];
  /** All partitions of the supervisor, whatever the filter. */
  count: number;
  fitting: number;
  readAt: string | null;
  trouble: Page["trouble"];
};

/** The partitions that fit, in the server's order, page by page. */
export function usePartitions(id: string, { sort, only }: PartitionsSearch) {
  const order = (sort ?? "partition") as Sort;
  const wanted = only === undefined ? {} : { only };
  const query = useInfiniteQuery<Page, Problem, { pages: Page[] }>({
    queryKey: [PATH, { path: { supervisor_id: id }, query: { sort: order, ...wanted } }],
    queryFn: ({ pageParam, signal }) =>
      get(
        PATH,
        {
          path: { supervisor_id: id },
          query: {
            sort: order,
            ...wanted,
            limit: MOST,
            ...(typeof pageParam === "string" ? { cursor: pageParam } : {}),
          },
        },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
    placeholderData: keepPreviousData,
  });
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) {
      void fetchNextPage();
    }
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const data = useMemo(() => listedOf(query.data?.pages), [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}

function listedOf(pages: readonly Page[] | undefined): ListedPartitions | undefined {
  const newest = pages?.at(-1);
  if (pages === undefined || newest === undefined) {
    return undefined;
  }
  // A partition that moves between two pages may be in both.
  const rows = new Map(
    pages.flatMap(({ partitions }) => partitions).map((row) => [nameOf(row), row] as const),
  );
  return {
    rows: [...rows.values()],
    count: newest.count,
    fitting: newest.fitting,
    readAt: newest.readAt,
    trouble: newest.trouble,
  };
}

export function nameOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}:${partition}`;
}
