import {
  type DefaultError,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { type GetPath, type Got, get, type Params } from "./client";
import { lackOf, outages } from "./outage";
import { Problem } from "./problem";

/** Polling of what a page shows. */
export const POLL_MS = 5_000;
/** Polling of the frame: the net below what the stream gives. */
export const SAFETY_MS = 30_000;

type Paged = { state: { data: { pages: readonly unknown[] } | undefined } };

/** Polling of a list whose pages are all asked for again: one request in `pollMs`, on average. */
export function pacedBy(pollMs: number) {
  return ({ state }: Paged) => pollMs * Math.max(1, state.data?.pages.length ?? 0);
}

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: Problem;
  }
}

/**
 * The options of a query for a path of the API.  Its key is [path, parameters]: the stream finds by
 * it what an event concerns.
 */
export function apiQuery<P extends GetPath>(path: P, params: Params<P, "get"> = {}) {
  return queryOptions<Got<P>, DefaultError, Got<P>, readonly unknown[]>({
    queryKey: [path, params],
    queryFn: ({ signal }) => get(path, params, signal),
  });
}

/** A refusal of who calls: the session may be over.  The caller is asked for again, who shows it. */
function lookAtCaller(problem: Error): void {
  if (problem instanceof Problem && problem.status === 401) {
    void queryClient.invalidateQueries({ queryKey: ["/api/v1/me"] });
  }
}

/** The path of the overview, which knows whether a leader and the database are there. */
export const OVERVIEW = "/api/v1/overview";

/** A refusal for want of a leader or of the database: the overview is asked whether that is so. */
function lookAtOutage(problem: Error): void {
  if (lackOf(problem) !== null && !outages.isOn()) {
    outages.suspect();
    void queryClient.invalidateQueries({ queryKey: [OVERVIEW] });
  }
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (problem, { queryKey }) => {
      if (queryKey[0] !== "/api/v1/me") {
        lookAtCaller(problem);
      }
      if (queryKey[0] !== OVERVIEW) {
        lookAtOutage(problem);
      }
    },
  }),
  mutationCache: new MutationCache({ onError: lookAtCaller }),
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      gcTime: 300_000,
      refetchIntervalInBackground: false,
      refetchOnWindowFocus: "always",
      refetchOnReconnect: "always",
      networkMode: "always",
      retry: (count, problem) => problem instanceof Problem && problem.passes && count < 1,
      retryDelay: 1_000,
    },
    mutations: { networkMode: "always" },
  },
});
