import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { GetPath, Got, Params } from "./client";
import type { Problem } from "./problem";
import { apiQuery } from "./query";

/** Asks a path of the API, again every `pollMs` while the page is seen, and whenever events say so. */
export function useApi<P extends GetPath>(
  path: P,
  params: Params<P, "get">,
  pollMs: number,
): UseQueryResult<Got<P>, Problem> {
  return useQuery({ ...apiQuery(path, params), refetchInterval: pollMs });
}
