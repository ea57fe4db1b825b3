import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { pacedBy, SAFETY_MS } from "@/api/query";
import type { SupervisorsSearch } from "../search";

const PATH = "/api/v1/supervisors/terminated";

type TerminatedPage = Got<typeof PATH>;
export type TerminatedRow = TerminatedPage["supervisors"][number];

/** The supervisors that are terminated and not forgotten, page by page, newest end first. */
export function useTerminated({ q, table }: SupervisorsSearch) {
  const filter = {
    ...(q === undefined ? {} : { q }),
    ...(table === undefined ? {} : { dataSource: table }),
  };
  const query = useInfiniteQuery<TerminatedPage, Problem, { pages: TerminatedPage[] }>({
    queryKey: [PATH, { query: filter }],
    queryFn: ({ pageParam, signal }) => {
      const cursor = typeof pageParam === "string" ? { cursor: pageParam } : {};
      return get(PATH, { query: { ...filter, ...cursor } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(SAFETY_MS),
    placeholderData: keepPreviousData,
  });
  const more = useMore(query);
  const data = useMemo(() => {
    const pages = query.data?.pages;
    return pages === undefined
      ? undefined
      : {
          rows: pages.flatMap(({ supervisors }) => supervisors),
          matching: pages.at(-1)?.matching ?? 0,
        };
  }, [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}
