import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { getTagged } from "@/api/client";
import type { Problem } from "@/api/problem";
import { apiQuery, POLL_MS } from "@/api/query";
import type { Schema } from "./document/schema";
import { tidied } from "./document/tidy";
import { numberIn, type Version } from "./draft";

const SPEC = "/druid/indexer/v1/supervisor/{supervisor_id}";

/** The key of the newest version; events of its supervisor concern it. */
export function newestKey(id: string) {
  return [SPEC, { path: { supervisor_id: id } }, "tagged"] as const;
}

/** The newest version of a supervisor's spec, for people to edit. */
export function useNewest(id: string): UseQueryResult<Version, Problem> {
  return useQuery<Version, Problem>({
    queryKey: newestKey(id),
    queryFn: async ({ signal }) => {
      const { data, tag } = await getTagged(SPEC, { path: { supervisor_id: id } }, signal);
      return { text: tidied(data), tag: tag ?? "", number: numberIn(tag ?? "") };
    },
    refetchInterval: POLL_MS,
  });
}

/** The overlord's schema of a spec; it changes with the release only. */
export function useSpecSchema(): Schema | undefined {
  const query = useQuery({
    ...apiQuery("/api/v1/schemas/supervisor-spec"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return query.data as Schema | undefined;
}
