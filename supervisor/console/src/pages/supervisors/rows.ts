import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { type Got, get, type Params } from "@/api/client";
import { useMore } from "@/api/more";
import { takeOverview, wantsOverview } from "@/api/overview";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import type { SupervisorsSearch } from "./search";

const PATH = "/api/v1/supervisors";
/** The first look has few rows; once more are wanted, a page has as many as the overlord gives. */
const FIRST = 200;
const MOST = 1_000;

type SupervisorsPage = Got<typeof PATH>;
export type ListedRow = SupervisorsPage["supervisors"][number];
type Query = NonNullable<Params<typeof PATH, "get">["query"]>;

export type Listed = {
  rows: ListedRow[];
  matching: number;
  totals: Readonly<Record<string, number>>;
};

/** The filter and order of a URL, as the overlord takes them. */
export function filterOf({ q, state, table, topic, healthy, sort }: SupervisorsSearch): Query {
  return {
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(table === undefined ? {} : { dataSource: table }),
    ...(topic === undefined ? {} : { topic }),
    ...(healthy === undefined ? {} : { healthy: false }),
    ...(sort === undefined ? {} : { sort }),
  };
}

/** The list of supervisors, page by page, asked for again while it is seen. */
export function useSupervisors(search: SupervisorsSearch) {
  const [limit, setLimit] = useState(FIRST);
  const filter = filterOf(search);
  const query = useInfiniteQuery<SupervisorsPage, Problem, { pages: SupervisorsPage[] }>({
    queryKey: [PATH, { query: { ...filter, limit } }],
    queryFn: async ({ pageParam, signal }) => {
      const along = pageParam === null && wantsOverview() ? { along: ["overview" as const] } : {};
      const query = { ...filter, limit, ...cursorOf(pageParam), ...along };
      const { overview, ...page } = await get(PATH, { query }, signal);
      takeOverview(overview);
      return page;
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
    placeholderData: keepPreviousData,
  });
  const next = useMore(query);
  const more = useCallback(() => (limit < MOST ? setLimit(MOST) : next()), [limit, next]);
  const data = useMemo(() => listedOf(query.data?.pages), [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}

/** The ids of all supervisors that fit a filter, on whatever page. */
export async function allIds(search: SupervisorsSearch): Promise<string[]> {
  const ids: string[] = [];
  let next: string | null = null;
  do {
    const page: SupervisorsPage = await get(PATH, {
      query: { ...filterOf(search), sort: "id", limit: MOST, ...cursorOf(next) },
    });
    ids.push(...page.supervisors.map(({ id }) => id));
    next = page.next;
  } while (next !== null);
  return ids;
}

function cursorOf(value: unknown): { cursor?: string } {
  return typeof value === "string" ? { cursor: value } : {};
}

function listedOf(pages: readonly SupervisorsPage[] | undefined): Listed | undefined {
  const newest = pages?.at(-1);
  if (pages === undefined || newest === undefined) {
    return undefined;
  }
  // A supervisor that moves between two pages may be in both.
  const rows = new Map<string, ListedRow>();
  for (const row of pages.flatMap(({ supervisors }) => supervisors)) {
    rows.set(row.id, row);
  }
  return { rows: [...rows.values()], matching: newest.matching, totals: newest.totals };
}
