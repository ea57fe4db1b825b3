import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { isDueSoon } from "@/api/along";
import { type Got, get, type Params } from "@/api/client";
import type { Exact } from "@/api/json";
import { useMore } from "@/api/more";
import { takeOverview, wantsOverview } from "@/api/overview";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy, queryClient } from "@/api/query";
import { exact, short } from "@/text/numbers";
import { explanationQuery, rowQuery } from "../data";
import type { DialogSearch, PartitionsSearch } from "../search";

const PATH = "/api/v1/supervisors/{supervisor_id}/partitions";
const MOST = 1_000;

type Page = Got<typeof PATH>;
type Query = NonNullable<Params<typeof PATH, "get">["query"]>;
type Sort = NonNullable<Query["sort"]>;
type Along = NonNullable<Query["along"]>[number];
export type PartitionRow = Page["partitions"][number];

export type ListedPartitions = {
  rows: PartitionRow[];
  /** All partitions of the supervisor, whatever the filter. */
  count: number;
  fitting: number;
  readAt: string | null;
  trouble: Page["trouble"];
};

/** The partitions that fit, in the server's order, page by page. */
export function usePartitions(id: string, { sort, only }: PartitionsSearch) {
  const order = (sort ?? "partition") as Sort;
  const wanted = only === undefined ? {} : { only };
  const query = useInfiniteQuery<Page, Problem, { pages: Page[] }>({
    queryKey: [PATH, { path: { supervisor_id: id }, query: { sort: order, ...wanted } }],
    queryFn: async ({ pageParam, signal }) => {
      const along = pageParam === null ? alongOf(id) : [];
      const query = {
        sort: order,
        ...wanted,
        limit: MOST,
        ...(typeof pageParam === "string" ? { cursor: pageParam } : {}),
        ...(along.length === 0 ? {} : { along }),
      };
      return taken(id, await get(PATH, { path: { supervisor_id: id }, query }, signal));
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
    placeholderData: keepPreviousData,
  });
  const more = useMore(query);
  const data = useMemo(() => listedOf(query.data?.pages), [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}

/** What the frame of the page would ask for before the next poll. */
function alongOf(id: string): Along[] {
  const all: [Along, boolean][] = [
    ["overview", wantsOverview()],
    ["row", isDueSoon(rowQuery(id).queryKey)],
    ["explanation", isDueSoon(explanationQuery(id).queryKey)],
  ];
  return all.filter(([, isWanted]) => isWanted).map(([name]) => name);
}

/** Hands on what an answer has brought along, and returns the rest. */
function taken(id: string, { overview, row, explanation, ...page }: Page): Page {
  takeOverview(overview);
  if (explanation) {
    queryClient.setQueryData(explanationQuery(id).queryKey, explanation);
  }
  if (row) {
    queryClient.setQueryData(
      rowQuery(id).queryKey,
      (before) =>
        before && {
          ...before,
          supervisors: before.supervisors.map((each) => (each.id === id ? row : each)),
        },
    );
  }
  return page;
}

function listedOf(pages: readonly Page[] | undefined): ListedPartitions | undefined {
  const newest = pages?.at(-1);
  if (pages === undefined || newest === undefined) {
    return undefined;
  }
  // A partition that moves between two pages may be in both.
  const rows = new Map(
    pages.flatMap(({ partitions }) => partitions).map((row) => [nameOf(row), row] as const),
  );
  return {
    rows: [...rows.values()],
    count: newest.count,
    fitting: newest.fitting,
    readAt: newest.readAt,
    trouble: newest.trouble,
  };
}

export function nameOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}:${partition}`;
}

/** How many records a task has still to read, beside its worker; nothing where it has read all. */
export function behind(lag: Exact | null): string {
  return lag === null || BigInt(lag) <= 0n ? "" : `−${short(lag)} `;
}

/** The same as the end of a sentence. */
export function restOf(lag: Exact | null): string {
  if (lag === null) {
    return "";
  }
  return BigInt(lag) <= 0n ? ", all is read" : `, ${exact(lag)} records are still to be read`;
}

/** The rows of a topic, by a part of its name, and of a group, by its number. */
export function fitting(
  rows: readonly PartitionRow[],
  { topic, group }: Pick<PartitionsSearch, "topic" | "group">,
): PartitionRow[] {
  return rows.filter(
    (row) =>
      (topic === undefined || row.topic.includes(topic)) &&
      (group === undefined || String(row.group) === group.trim()),
  );
}

/**
 * Returns what opens the dialog of a reset with one partition filled in: with the offset that is
 * committed, else with the first one that is there.  `stream`: the topic, or a pattern of topics.
 */
export function resetOf(row: PartitionRow, stream: string | null): DialogSearch {
  const name = row.topic === stream ? String(row.partition) : nameOf(row);
  const offset = row.committed ?? row.firstOffset ?? row.earliest ?? 0;
  return { do: "reset", to: "offsets", offset: [`${name}=${offset}`] };
}
