import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { tidied } from "../spec/document/tidy";

const LINES = "/api/v1/supervisors/{supervisor_id}/history";
const SPECS = "/druid/indexer/v1/supervisor/{supervisor_id}/history";
const PAGE = 100;

type LinesPage = Got<typeof LINES>;
export type VersionLine = LinesPage["versions"][number];

export type Versions = { rows: VersionLine[]; total: number };

/** The versions of a spec, newest first, page by page; specs by themselves are not among it. */
export function useVersions(id: string) {
  const query = useInfiniteQuery<LinesPage, Problem, { pages: LinesPage[] }>({
    queryKey: [LINES, { path: { supervisor_id: id } }, "pages"],
    queryFn: ({ pageParam, signal }) => {
      const cursor = typeof pageParam === "string" ? { cursor: pageParam } : {};
      const params = { path: { supervisor_id: id }, query: { limit: PAGE, ...cursor } };
      return get(LINES, params, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
  });
  const more = useMore(query);
  const data = useMemo(() => versionsOf(query.data?.pages), [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}

function versionsOf(pages: readonly LinesPage[] | undefined): Versions | undefined {
  if (pages === undefined) {
    return undefined;
  }
  // While a version comes, the pages behind it may begin with the last line of the one before.
  const rows = new Map(
    pages.flatMap(({ versions }) => versions.map((line) => [line.versionNumber, line] as const)),
  );
  const shown = [...rows.values()];
  const isAll = pages.at(-1)?.next === null;
  return { rows: shown, total: isAll ? shown.length : (shown[0]?.versionNumber ?? 0) };
}

/** The spec of one version as text; a version never changes. */
export function useVersionText(id: string, number: number | undefined) {
  return useQuery<string | null, Problem>({
    queryKey: ["version", id, number],
    queryFn: async ({ signal }) => {
      const query = { count: 1, before: (number ?? 0) + 1 };
      const rows = await get(SPECS, { path: { supervisor_id: id }, query }, signal);
      const row = rows.find(({ versionNumber }) => versionNumber === number);
      return row === undefined ? null : tidied(row.spec);
    },
    enabled: number !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
