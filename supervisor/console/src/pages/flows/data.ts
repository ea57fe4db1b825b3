import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { pacedBy, SAFETY_MS } from "@/api/query";

const PATH = "/api/v1/flows";
const LIMIT = 100;

type FlowsPage = Got<typeof PATH>;
export type FlowVersion = FlowsPage["flows"][number];
export type Listed = { flows: FlowVersion[]; hasMore: boolean };

/** The newest version of each flow, by name, page by page. */
export function useFlows() {
  const query = useInfiniteQuery<FlowsPage, Problem, { pages: FlowsPage[] }>({
    queryKey: [PATH, { query: { limit: LIMIT } }],
    queryFn: ({ pageParam, signal }) =>
      get(PATH, { query: { limit: LIMIT, after: String(pageParam) } }, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(SAFETY_MS),
  });
  const more = useMore(query);
  const data = useMemo<Listed | undefined>(() => {
    const pages = query.data?.pages;
    return pages === undefined
      ? undefined
      : {
          flows: pages.flatMap(({ flows }) => flows),
          hasMore: typeof pages.at(-1)?.next === "string",
        };
  }, [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}
