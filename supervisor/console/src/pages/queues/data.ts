import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type Got, get } from "@/api/client";
import { missing, type Permission, useMe } from "@/api/me";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { useTableOf } from "@/api/tables";
import { useApi } from "@/api/use";
import type { QueueName } from "@/changes/queues";
import { ownerOf, tablesOf } from "./queues";

const FAILED = "/api/v1/queues/{container}/{name}/failed";
const LIMIT = 100;

type FailedPage = Got<typeof FAILED>;
export type FailedRow = FailedPage["failed"][number];

/** The queue that the page is about. */
export function useQueueName(): QueueName {
  return useParams({ from: "/shell/queues/$container/$name" });
}

export function useQueue(queue: QueueName) {
  return useApi("/api/v1/queues/{container}/{name}", { path: queue }, POLL_MS);
}

/** The events that a queue has set aside, oldest first, page by page. */
export function useFailed(queue: QueueName) {
  const query = useInfiniteQuery<FailedPage, Problem, { pages: FailedPage[] }>({
    queryKey: [FAILED, { path: queue, query: { limit: LIMIT } }],
    queryFn: ({ pageParam, signal }) => {
      const cursor = typeof pageParam === "string" ? { cursor: pageParam } : {};
      return get(FAILED, { path: queue, query: { limit: LIMIT, ...cursor } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
  });
  const more = useMore(query);
  const data = query.data?.pages.flatMap(({ failed }) => failed);
  return { data, error: query.error, refetch: query.refetch, more };
}

/** Says what is missing for changes of a queue: a permission on each of its tables. */
export function useLackOn(container: string): (permission: Permission | null) => string | null {
  const me = useMe();
  const owner = ownerOf(container);
  const tables = tablesOf(container, useTableOf(owner));
  return (permission) =>
    tables.length === 0
      ? missing(me, permission, null)
      : (tables.map((table) => missing(me, permission, table)).find((why) => why !== null) ?? null);
}
