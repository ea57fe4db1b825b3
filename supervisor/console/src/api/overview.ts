import type { Got } from "./client";
import { useApi } from "./use";

export type Overview = Got<"/api/v1/overview">;
export type AttentionItem = Overview["attention"][number];
export type Remedy = AttentionItem["remedies"][number];

/** How everything stands: the home page, the menu and the list of supervisors share the answer. */
export function useOverview(pollMs: number) {
  return useApi("/api/v1/overview", {}, pollMs);
}
