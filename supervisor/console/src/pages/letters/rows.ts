import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { missing, useMe } from "@/api/me";
import { useMore } from "@/api/more";
import type { Overview } from "@/api/overview";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { type LetterOf, nameOf } from "@/changes/letters";
import type { LettersSearch } from "./search";

const LETTERS = "/api/v1/dead-letters";
const LIMIT = 100;

type LettersPage = Got<typeof LETTERS>;
type Place = { after: string; persister: string };
export type Listed = { rows: LetterOf[]; hasMore: boolean };

/** Dead letters, page by page; the pages behind the first are of the persister that gave it. */
export function useLetters(search: LettersSearch, isWanted: boolean) {
  const { about, handled, persister } = search;
  const filter = {
    ...(about === undefined ? {} : { about }),
    ...(handled === undefined ? {} : { handled }),
    ...(persister === undefined ? {} : { persister }),
    limit: LIMIT,
  };
  const query = useInfiniteQuery<LettersPage, Problem, { pages: LettersPage[] }>({
    queryKey: [LETTERS, { query: filter }],
    queryFn: ({ pageParam, signal }) => {
      const place = pageParam === null ? {} : (pageParam as Place);
      return get(LETTERS, { query: { ...filter, ...place } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: ({ next, persister: from }) =>
      next === null ? null : { after: next, persister: from },
    refetchInterval: pacedBy(POLL_MS),
    placeholderData: keepPreviousData,
    enabled: isWanted,
  });
  const more = useMore(query);
  const pages = query.data?.pages;
  const data = useMemo<Listed | undefined>(
    () => pages && { rows: rowsOf(pages), hasMore: pages.at(-1)?.next !== null },
    [pages],
  );
  return { data, error: query.error, refetch: query.refetch, more };
}

/** The letters of all pages, each once: one that came meanwhile moves the others on. */
export function rowsOf(pages: readonly LettersPage[]): LetterOf[] {
  const rows = new Map<string, LetterOf>();
  for (const { letters, persister } of pages) {
    for (const letter of letters) {
      rows.set(nameOf(letter), { letter, persister });
    }
  }
  return [...rows.values()];
}

/** Whether somebody may be asked: without a leader nobody knows that there is none. */
export function hasPersisters(overview: Overview | undefined): boolean {
  return overview !== undefined && (overview.leader === null || overview.reports !== null);
}

/** The addresses of the persisters, as far as they are known. */
export function urlsOf({ reports }: Overview): string[] {
  return (reports?.persisters ?? []).map(({ url }) => url);
}

/** What is missing to read dead letters; null: nothing. */
export function useLackOfReading(): string | null {
  return missing(useMe(), "read", null);
}
