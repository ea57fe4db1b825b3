import type { QueryKey } from "@tanstack/react-query";
import { POLL_MS, queryClient, SAFETY_MS } from "./query";

/** Answers come a moment after they were asked for: what is due nearly now is due now. */
const SLACK_MS = 500;

/**
 * Whether a poll should bring along what another query shows: it would ask for it by itself before
 * the next poll could.  So an idle page asks once in `POLL_MS`, whatever its frame shows besides.
 */
export function isDueSoon(key: QueryKey, now = Date.now()): boolean {
  const query = queryClient.getQueryCache().find({ queryKey: key, exact: true });
  if (query === undefined || !query.isActive() || query.state.fetchStatus !== "idle") {
    return false;
  }
  const { data, dataUpdatedAt } = query.state;
  return data !== undefined && now - dataUpdatedAt >= SAFETY_MS - POLL_MS - SLACK_MS;
}
