import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { type Got, get, type Params } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy, SAFETY_MS } from "@/api/query";
import { exact } from "@/text/numbers";
import type { TaskState, TasksSearch } from "./search";

const PATH = "/api/v1/tasks";
/** The first look has few rows; once more are wanted, a page has as many as the overlord gives. */
const FIRST = 200;
const MOST = 1_000;

type TasksPage = Got<typeof PATH>;
export type TaskRow = TasksPage["tasks"][number];
type Query = NonNullable<Params<typeof PATH, "get">["query"]>;
/** The lists that the overlord has; running and pending tasks are both active. */
type ListName = "active" | "own-failures" | "failed" | "succeeded" | "all";

const LISTS: Record<ListName, Query> = {
  active: { status: "RUNNING" },
  "own-failures": { ownFailure: true },
  failed: { status: "FAILED" },
  succeeded: { status: "SUCCESS" },
  all: {},
};

export type Listed = {
  rows: TaskRow[];
  /** Whether there are no further pages. */
  isWhole: boolean;
};

export function listOf(state: TaskState | undefined): ListName {
  return state === undefined || state === "running" || state === "pending" ? "active" : state;
}

/** The filters of a URL, as the overlord takes them. */
export function filterOf({ q, supervisor, group, generation, worker }: TasksSearch): Query {
  return {
    ...(q === undefined ? {} : { q }),
    ...(supervisor === undefined ? {} : { supervisor }),
    ...(group === undefined ? {} : { group: Number(group) }),
    ...(generation === undefined ? {} : { generation }),
    ...(worker === undefined ? {} : { worker }),
  };
}

export function isPending({ runnerStatusCode }: Pick<TaskRow, "runnerStatusCode">): boolean {
  return runnerStatusCode === "PENDING";
}

/** The rows of a state, of the list that holds them. */
export function inState(listed: Listed, state: TaskState | undefined): Listed {
  if (state !== "running" && state !== "pending") {
    return listed;
  }
  const wanted = state === "pending";
  return { ...listed, rows: listed.rows.filter((row) => isPending(row) === wanted) };
}

/** The number of rows of a state: "3", or "200+" while further pages are not known. */
export function numberOf(
  listed: Listed | undefined,
  state: TaskState | undefined,
): string | undefined {
  if (listed === undefined) {
    return undefined;
  }
  const { rows, isWhole } = inState(listed, state);
  return `${exact(rows.length)}${isWhole ? "" : "+"}`;
}

/** The tasks that are listed, and those whose numbers are shown on the filters. */
export function useTasks(search: TasksSearch) {
  const name = listOf(search.state);
  const active = useList("active", search, name === "active" ? POLL_MS : SAFETY_MS);
  const failures = useList("own-failures", search, name === "own-failures" ? POLL_MS : SAFETY_MS);
  const isOther = name !== "active" && name !== "own-failures";
  const other = useList(name, search, POLL_MS, isOther);
  const shown = name === "active" ? active : name === "own-failures" ? failures : other;
  return { active: active.data, failures: failures.data, shown };
}

/** One list, page by page, asked for again while it is seen. */
function useList(name: ListName, search: TasksSearch, pollMs: number, isWanted = true) {
  const [wanted, setLimit] = useState(FIRST);
  // Groups of few tasks would say little.
  const limit = search.by === undefined ? wanted : MOST;
  const filter = { ...filterOf(search), ...LISTS[name] };
  const query = useInfiniteQuery<TasksPage, Problem, { pages: TasksPage[] }>({
    queryKey: [PATH, { query: { ...filter, limit } }],
    queryFn: ({ pageParam, signal }) =>
      get(PATH, { query: { ...filter, limit, ...cursorOf(pageParam) } }, signal),
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(pollMs),
    placeholderData: keepPreviousData,
    enabled: isWanted,
  });
  const next = useMore(query);
  const more = useCallback(() => (limit < MOST ? setLimit(MOST) : next()), [limit, next]);
  const data = useMemo(() => listedOf(query.data?.pages), [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}

function cursorOf(value: unknown): { cursor?: string } {
  return typeof value === "string" ? { cursor: value } : {};
}

export function listedOf(pages: readonly TasksPage[] | undefined): Listed | undefined {
  const newest = pages?.at(-1);
  if (pages === undefined || newest === undefined) {
    return undefined;
  }
  // A task that comes between two looks may be on both pages.
  const rows = new Map(pages.flatMap(({ tasks }) => tasks).map((row) => [row.id, row] as const));
  return { rows: [...rows.values()], isWhole: newest.next === null };
}
