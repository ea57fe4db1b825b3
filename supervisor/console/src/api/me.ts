import { useQuery } from "@tanstack/react-query";
import { matches } from "@/text/patterns";
import type { Got } from "./client";
import { apiQuery } from "./query";
import type { components } from "./schema";

export type Me = Got<"/api/v1/me">;
export type Permission = components["schemas"]["Permission"];
/** The pattern of everything; what is no single table's needs it. */
export const EVERYTHING = "*";

export const meQuery = apiQuery("/api/v1/me");

/** Returns the caller; undefined until it is known. */
export function useMe(): Me | undefined {
  return useQuery({ ...meQuery, staleTime: 60_000 }).data;
}

/** Whether a caller has a permission on a table; null: on the whole cluster. */
export function may(me: Me, permission: Permission, table: string | null): boolean {
  if (!me.asked || permission === "open" || permission === "signed-in") {
    return true;
  }
  const patterns = me.permissions[permission] ?? [];
  return table === null
    ? patterns.includes(EVERYTHING)
    : patterns.some((pattern) => matches(pattern, table));
}

/** Says what is missing for an action; null: it is allowed. */
export function missing(
  me: Me | undefined,
  permission: Permission | null,
  table: string | null,
): string | null {
  if (permission === null || (me !== undefined && may(me, permission, table))) {
    return null;
  }
  if (me === undefined) {
    return "It is not known yet what you may do.";
  }
  return `Needs the permission ${permission} on ${table ?? "the whole cluster"}. Ask an administrator.`;
}
