import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Got, get, type Params } from "@/api/client";
import { useMore } from "@/api/more";
import type { Problem } from "@/api/problem";
import { POLL_MS, pacedBy } from "@/api/query";
import { type ExecutionsSearch, WINDOWS } from "./search";

const PATH = "/api/v1/executions";
const LIMIT = 100;
const STEP_MS = 300_000;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const TRIGGER = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const LABEL = /^[^:\0]{1,100}:[^\0]{0,300}$/;
const ERROR_MAX = 200;
const ID = /^[A-Za-z0-9][A-Za-z0-9._:~-]{0,299}$/;

type ExecutionsPage = Got<typeof PATH>;
export type ExecutionLine = ExecutionsPage["executions"][number];
export type Listed = { executions: ExecutionLine[]; hasMore: boolean };
// Names and types are those of the API: a name that it does not have would filter nothing.
type Filter = Pick<
  NonNullable<Params<typeof PATH, "get">["query"]>,
  "flow" | "state" | "parent" | "label" | "startedBy" | "trigger" | "error" | "from"
>;

/** Executions, newest first, page by page; a name that none can have fits none. */
export function useExecutions(search: ExecutionsSearch, nowMs: number, limit = LIMIT) {
  const filter = filterOf(search, nowMs);
  const wanted = { ...filter, limit };
  const query = useInfiniteQuery<ExecutionsPage, Problem, { pages: ExecutionsPage[] }>({
    queryKey: [PATH, { query: wanted }],
    queryFn: ({ pageParam, signal }) => {
      const cursor = typeof pageParam === "string" ? { cursor: pageParam } : {};
      return filter === null
        ? { executions: [], next: null }
        : get(PATH, { query: { ...filter, limit, ...cursor } }, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => page.next,
    refetchInterval: pacedBy(POLL_MS),
    placeholderData: keepPreviousData,
  });
  const more = useMore(query);
  const data = useMemo<Listed | undefined>(() => {
    const pages = query.data?.pages;
    return pages === undefined
      ? undefined
      : {
          executions: onceEach(pages.flatMap(({ executions }) => executions)),
          hasMore: typeof pages.at(-1)?.next === "string",
        };
  }, [query.data]);
  return { data, error: query.error, refetch: query.refetch, more };
}

/** The query of a URL's filters; null: nothing can fit them. */
export function filterOf(search: ExecutionsSearch, nowMs: number): Filter | null {
  const { flow, state, since, parent, label, startedBy, error } = search;
  const name = flow?.trim();
  const trigger = search.trigger?.trim();
  if (
    (name && !NAME.test(name)) ||
    (trigger && !TRIGGER.test(trigger)) ||
    (parent && !ID.test(parent)) ||
    label?.some((each) => !LABEL.test(each)) ||
    (error && (error.length > ERROR_MAX || error.includes("\0")))
  ) {
    return null;
  }
  // In steps: a query that is another one each second would begin anew each second.
  const begin = since && Math.floor(nowMs / STEP_MS) * STEP_MS - WINDOWS[since];
  return {
    ...(name ? { flow: name } : {}),
    ...(state === undefined ? {} : { state }),
    ...(parent ? { parent } : {}),
    ...(label === undefined ? {} : { label }),
    ...(startedBy === undefined ? {} : { startedBy }),
    ...(trigger ? { trigger } : {}),
    ...(error ? { error } : {}),
    ...(begin === undefined ? {} : { from: new Date(begin).toISOString() }),
  };
}

/** Pages that are read one after the other may both have an execution that came between. */
function onceEach(executions: readonly ExecutionLine[]): ExecutionLine[] {
  return [...new Map(executions.map((each) => [each.id, each])).values()];
}
