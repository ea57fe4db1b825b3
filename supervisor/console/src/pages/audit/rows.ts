import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { type Entry, named } from "./entries";
import { isByPerson } from "./people";
import type { AuditSearch } from "./search";

const PATH = "/api/v1/audit";
const LIMIT = 100;
const SLOW_MS = 6 * POLL_MS;
/** The API cannot leave out parts of Tidegate: a page is large, as few of its entries are shown. */
const LIMIT_OF_ALL = 1_000;

type AuditPage = Got<typeof PATH>;
export type Listed = {
  entries: Entry[];
  /** How many entries were looked at; not all of them are shown when only people's are. */
  looked: number;
  /** When the oldest of these was; null: there is none. */
  since: string | null;
  hasMore: boolean;
  missing: string | null;
};

/** The audit log, page by page; the first page is asked for again while it is seen. */
export function useAudit({ supervisor, action, actor, by }: AuditSearch, isAllowed: boolean) {
  const filter = {
    ...(supervisor === undefined ? {} : { supervisor }),
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
    limit: by === undefined ? LIMIT : LIMIT_OF_ALL,
  };
  const query = useInfiniteQuery<AuditPage, Problem, { pages: AuditPage[] }>({
    queryKey: [PATH, { query: filter }],
    queryFn: ({ pageParam, signal }) => {
      const cursor = typeof pageParam === "string" ? { cursor: pageParam } : {};
      return get(PATH, { query: { ...filter, ...cursor } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(by === undefined ? POLL_MS : SLOW_MS),
    placeholderData: keepPreviousData,
    enabled: isAllowed,
  });
  const more = useMore(query);
  const data = useMemo<Listed | undefined>(() => {
    const pages = query.data?.pages;
    if (pages === undefined) {
      return undefined;
    }
    const all = named(pages.flatMap(({ entries }) => entries));
    return {
      entries: by === undefined ? all : all.filter(isByPerson),
      looked: all.length,
      since: all.at(-1)?.at ?? null,
      hasMore: typeof pages.at(-1)?.next === "string",
      missing: pages.at(-1)?.missing ?? null,
    };
  }, [query.data, by]);
  return { data, error: query.error, refetch: query.refetch, more };
}
