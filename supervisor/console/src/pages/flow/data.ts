import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { apiQuery, pacedBy, SAFETY_MS } from "@/api/query";

const VERSIONS = "/api/v1/flows/{flow}/versions";
const LIMIT = 100;

type VersionsPage = Got<typeof VERSIONS>;
export type FlowVersion = VersionsPage["versions"][number];

/** The name of the flow that the page is about. */
export function useFlowName(): string {
  return useParams({ from: "/shell/flows/$flow" }).flow;
}

/** The versions of a flow, newest first; of a deleted one, too. */
export function useVersions(flow: string) {
  const query = useInfiniteQuery<VersionsPage, Problem, { pages: VersionsPage[] }>({
    queryKey: [VERSIONS, { path: { flow } }],
    queryFn: ({ pageParam, signal }) => {
      const before = typeof pageParam === "number" ? { before: pageParam } : {};
      return get(VERSIONS, { path: { flow }, query: { limit: LIMIT, ...before } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(SAFETY_MS),
  });
  const more = useMore(query);
  const data = query.data?.pages.flatMap(({ versions }) => versions);
  return { data, error: query.error, refetch: query.refetch, more, hasMore: query.hasNextPage };
}

/** The execution whose inputs a start begins with. */
export function useGiven(execution: string | undefined) {
  return useQuery({
    ...apiQuery("/api/v1/executions/{execution}", { path: { execution: execution ?? "" } }),
    enabled: execution !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
