import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { apiQuery, POLL_MS, pacedBy, SAFETY_MS } from "@/api/query";
import { hasEnded } from "@/components/flow/looks";
import { graphsOf } from "@/components/flow/plan";

const EVENTS = "/api/v1/executions/{execution}/events";
const LIMIT = 100;

export type Execution = Got<"/api/v1/executions/{execution}">;
export type TaskRun = Execution["runs"][number];
export type Attempt = TaskRun["attempts"][number];
type EventsPage = Got<typeof EVENTS>;
export type ExecutionEvent = EventsPage["events"][number];

/** The id of the execution that the page is about. */
export function useExecutionId(): string {
  return useParams({ from: "/shell/executions/$execution" }).execution;
}

/** An execution with its task runs; one that has ended is seldom looked at again. */
export function useExecution(execution: string) {
  return useQuery({
    ...apiQuery("/api/v1/executions/{execution}", { path: { execution } }),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && hasEnded(data.state) ? SAFETY_MS : POLL_MS,
  });
}

/** The graphs of a flow's version, which never changes. */
export function useGraphs(flow: string, version: number) {
  const query = useQuery({
    ...apiQuery("/api/v1/flows/{flow}/versions/{version}", { path: { flow, version } }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const document = query.data?.document;
  const data = useMemo(() => (document === undefined ? undefined : graphsOf(document)), [document]);
  return { data, error: query.error, refetch: query.refetch };
}

/** What has happened to an execution, in order, page by page. */
export function useEvents(execution: string, isEnded: boolean) {
  const query = useInfiniteQuery<EventsPage, Problem, { pages: EventsPage[] }>({
    queryKey: [EVENTS, { path: { execution } }],
    queryFn: ({ pageParam, signal }) =>
      get(
        EVENTS,
        { path: { execution }, query: { limit: LIMIT, after: Number(pageParam) } },
        signal,
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(isEnded ? SAFETY_MS : POLL_MS),
  });
  const more = useMore(query);
  const data = query.data?.pages.flatMap(({ events }) => events);
  return { data, error: query.error, refetch: query.refetch, more, hasMore: query.hasNextPage };
}
