import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Got } from "@/api/client";
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
