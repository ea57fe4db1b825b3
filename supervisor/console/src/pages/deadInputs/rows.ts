import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { type DeadInput, nameOf } from "@/changes/deadInputs";
import type { DeadInputsSearch } from "./search";

const DEAD = "/api/v1/executor/dead";
const LIMIT = 100;

type DeadPage = Got<typeof DEAD>;
export type Listed = { rows: DeadInput[]; hasMore: boolean };

/** Dead inputs, page by page, the newest first; `isWanted`: executions run on Kafka. */
export function useDeadInputs({ handled }: DeadInputsSearch, isWanted: boolean) {
  const filter = { ...(handled === undefined ? {} : { handled }), limit: LIMIT };
  const query = useInfiniteQuery<DeadPage, Problem, { pages: DeadPage[] }>({
    queryKey: [DEAD, { query: filter }],
    queryFn: ({ pageParam, signal }) => {
      const before = pageParam === null ? {} : { before: pageParam as number };
      return get(DEAD, { query: { ...filter, ...before } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
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

/** The inputs of all pages, each once: one that came meanwhile moves the others on. */
export function rowsOf(pages: readonly DeadPage[]): DeadInput[] {
  const rows = new Map<string, DeadInput>();
  for (const input of pages.flatMap(({ letters }) => letters)) {
    rows.set(nameOf(input), input);
  }
  return [...rows.values()];
}
