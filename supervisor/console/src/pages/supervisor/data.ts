import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type Got, get } from "@/api/client";
import type { Problem } from "@/api/problem";
import { apiQuery, POLL_MS, SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";

export type Explanation = Got<"/api/v1/supervisors/{supervisor_id}/explain">;
export type Status = Got<"/druid/indexer/v1/supervisor/{supervisor_id}/status">["payload"];
export type StatusGroup = Status["groups"][number];
export type StatusTask = Status["activeTasks"][number];
export type ListedRow = Got<"/api/v1/supervisors">["supervisors"][number];

/** The supervisor that the page is about. */
export function useSupervisorId(): string {
  return useParams({ from: "/shell/supervisors/$id" }).id;
}

/** Its state in words, also of a terminated one. */
export function useExplanation(id: string, pollMs = POLL_MS) {
  return useQuery({ ...explanationQuery(id), refetchInterval: pollMs });
}

/** The query of its explanation. */
export function explanationQuery(id: string) {
  return apiQuery("/api/v1/supervisors/{supervisor_id}/explain", { path: { supervisor_id: id } });
}

/** Its tasks, offsets and lag; a problem where it is terminated. */
export function useStatus(id: string) {
  const path = "/druid/indexer/v1/supervisor/{supervisor_id}/status";
  return useApi(path, { path: { supervisor_id: id } }, POLL_MS);
}

/** The query of its row. */
export function rowQuery(id: string) {
  return apiQuery("/api/v1/supervisors", { query: { q: `${id}*`, sort: "id" } });
}

/**
 * Its row of the list; null: it is terminated, or the leader has not looked at it yet.  Events tell
 * when its state or version changes.  The star keeps away all names that only contain its own.
 */
export function useRow(id: string, pollMs = SAFETY_MS): ListedRow | null | undefined {
  const { data } = useQuery({ ...rowQuery(id), refetchInterval: pollMs });
  return data === undefined ? undefined : (data.supervisors.find((row) => row.id === id) ?? null);
}

const LINES = "/api/v1/supervisors/{supervisor_id}/history";
const SPECS = "/druid/indexer/v1/supervisor/{supervisor_id}/history";

type Line = Got<typeof LINES>["versions"][number];
type Stored = Got<typeof SPECS>[number];

/** How a supervisor ended, and what it was. */
export type Ended = {
  at: string;
  author: string | null;
  reason: string | null;
  /** The version of its spec that was the newest when it was terminated. */
  version: number;
  /** The table that it fed; null: its newest version does not say. */
  table: string | null;
};

/**
 * How a supervisor without a row ended; null: it is not terminated.  Its history has the answer, as
 * the status of a terminated supervisor is a 404.
 */
export function useEnded(id: string, row: ListedRow | null | undefined): Ended | null | undefined {
  const query = useQuery<Ended | null, Problem>({
    queryKey: [LINES, { path: { supervisor_id: id } }, "end"],
    queryFn: async ({ signal }) => {
      const path = { supervisor_id: id };
      const { versions } = await get(LINES, { path, query: { limit: 1 } }, signal);
      if (versions[0]?.kind !== "terminated") {
        return null;
      }
      const stored = await get(SPECS, { path, query: { count: 1 } }, signal);
      return endedOf(versions[0], stored[0]);
    },
    enabled: row === null,
    refetchInterval: SAFETY_MS,
  });
  if (row !== null) {
    return row === undefined ? undefined : null;
  }
  return query.isError ? null : query.data;
}

/** What the newest version says of a supervisor that was terminated by it. */
export function endedOf(line: Line, stored: Stored | undefined): Ended {
  const tables = stored?.versionNumber === line.versionNumber ? stored.spec.dataSources : [];
  const table: unknown = Array.isArray(tables) ? tables[0] : undefined;
  return {
    at: line.at,
    author: line.author,
    reason: line.reason ?? null,
    version: line.versionNumber - 1, // a spec comes before each end
    table: typeof table === "string" ? table : null,
  };
}
