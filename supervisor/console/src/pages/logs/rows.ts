import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import { useOverview } from "@/api/overview";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { filterOf, type LinesSearch, type ReportsSearch } from "./search";

const LINES = "/api/v1/logs";
const REPORTS = "/api/v1/reports";
const LIMIT = 100;

type LinesPage = Got<typeof LINES>;
type ReportsPage = Got<typeof REPORTS>;
export type Line = LinesPage["lines"][number];
export type Report = ReportsPage["reports"][number];
export type Listed<T> = { rows: T[]; hasMore: boolean };

/** Warnings and errors of stored logs, page by page. */
export function useLines(search: LinesSearch) {
  const query = { ...filterOf(search), limit: LIMIT };
  return usePages<LinesPage, Line>(
    [LINES, { query }],
    (cursor, signal) => get(LINES, { query: { ...query, ...cursor } }, signal),
    linesOf,
  );
}

/** Stored reports, page by page. */
export function useReports(search: ReportsSearch) {
  const query = { ...filterOf(search), limit: LIMIT };
  return usePages<ReportsPage, Report>(
    [REPORTS, { query }],
    (cursor, signal) => get(REPORTS, { query: { ...query, ...cursor } }, signal),
    reportsOf,
  );
}

const linesOf = ({ lines }: LinesPage) => lines;
const reportsOf = ({ reports }: ReportsPage) => reports;

/** Why nothing is stored, by the overview; null: nothing speaks against it; undefined: not known yet. */
export function useNothingStored(): string | null | undefined {
  const { data, isError } = useOverview(POLL_MS);
  return data === undefined && !isError ? undefined : (data?.nothingStored ?? null);
}

/** Whether nothing is stored: it stays so until somebody acts, and the page is opened again. */
export function hasNoStore(error: Problem | null): boolean {
  return error?.kind === "no-report-store";
}

type Page = { next: string | null };

/** A list of pages; the known ones are asked for again while they are seen. */
function usePages<P extends Page, T>(
  key: readonly unknown[],
  ask: (cursor: { cursor?: string }, signal: AbortSignal) => Promise<P>,
  rowsOf: (page: P) => readonly T[],
) {
  const isThere = useNothingStored() === null;
  const query = useInfiniteQuery<P, Problem, { pages: P[] }>({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      ask(typeof pageParam === "string" ? { cursor: pageParam } : {}, signal),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: (of) => (hasNoStore(of.state.error) ? false : pacedBy(POLL_MS)(of)),
    placeholderData: keepPreviousData,
    enabled: isThere,
  });
  const more = useMore(query);
  const pages = query.data?.pages;
  const data = useMemo<Listed<T> | undefined>(
    () =>
      pages && {
        rows: pages.flatMap((page) => [...rowsOf(page)]),
        hasMore: typeof pages.at(-1)?.next === "string",
      },
    [pages, rowsOf],
  );
  return { data, error: query.error, refetch: query.refetch, more };
}
