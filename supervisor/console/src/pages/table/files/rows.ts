import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get, type Params } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { SAFETY_MS } from "@/api/query";
import type { FilesSearch } from "../search";

const PATH = "/api/v1/datasources/{data_source}/segments";
/** Files of a page; the list is never asked for as a whole. */
const LIMIT = 500;

type SegmentsPage = Got<typeof PATH>;
export type Segment = SegmentsPage["segments"][number];
type Query = NonNullable<Params<typeof PATH, "get">["query"]>;

/** The filter of a URL, as the overlord takes it. */
export function filterOf({ used = "yes", from, to, supervisor }: FilesSearch): Query {
  return {
    ...(used === "all" ? {} : { used: used === "yes" }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(supervisor === undefined ? {} : { supervisor }),
  };
}

/** The files of a table by interval, page by page. */
export function useSegments(name: string, search: FilesSearch) {
  const filter = filterOf(search);
  const query = useInfiniteQuery<SegmentsPage, Problem, { pages: SegmentsPage[] }>({
    queryKey: [PATH, { path: { data_source: name }, query: { ...filter, limit: LIMIT } }],
    queryFn: ({ pageParam, signal }) =>
      get(
        PATH,
        {
          path: { data_source: name },
          query: {
            ...filter,
            limit: LIMIT,
            ...(typeof pageParam === "string" ? { cursor: pageParam } : {}),
          },
        },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : SAFETY_MS),
    placeholderData: keepPreviousData,
  });
  const more = useMore(query);
  const data = useMemo(() => query.data && listedOf(query.data.pages), [query.data]);
  return { data, error: query.error, refetch: query.refetch, more, hasMore: query.hasNextPage };
}

export function listedOf(pages: readonly SegmentsPage[]): Segment[] {
  // A file that moves between two pages may be in both.
  const rows = new Map(pages.flatMap(({ segments }) => segments).map((row) => [row.id, row]));
  return [...rows.values()];
}

/** What a file is to its table. */
export type State = "used" | "replaced" | "unused" | "going";

export function stateOf({ used, replacedBy, deletedAt }: Segment): State {
  if (used) {
    return "used";
  }
  return deletedAt !== null ? "going" : replacedBy !== null ? "replaced" : "unused";
}

/** Whether a file may be put back: its time of grace is not over, and no other has its rows. */
export function canReturn(segment: Segment): boolean {
  return stateOf(segment) === "unused";
}
