import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { type Entry, named } from "./entries";
import type { AuditSearch } from "./search";

const PATH = "/api/v1/audit";
const LIMIT = 100;

type AuditPage = Got<typeof PATH>;
export type Listed = { entries: Entry[]; hasMore: boolean; missing: string | null };

/** The audit log, page by page; the first page is asked for again while it is seen. */
export function useAudit({ supervisor, action, actor }: AuditSearch, isAllowed: boolean) {
  const filter = {
    ...(supervisor === undefined ? {} : { supervisor }),
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
    limit: LIMIT,
  };
  const query = useInfiniteQuery<AuditPage, Problem, { pages: AuditPage[] }>({
    queryKey: [PATH, { query: filter }],
    queryFn: ({ pageParam, signal }) => {
      const cursor = typeof pageParam === "string" ? { cursor: pageParam } : {};
      return get(PATH, { query: { ...filter, ...cursor } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
    placeholderData: keepPreviousData,
    enabled: isAllowed,
  });
  const more = useMore(query);
  const data = useMemo<Listed | undefined>(() => {
    const pages = query.data?.pages;
    return pages === undefined
      ? undefined
      : {
          entries: named(pages.flatMap(({ entries }) => entries)),
          hasMore: typeof pages.at(-1)?.next === "string",
          missing: pages.at(-1)?.missing ?? null,
        };
  }, [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}
