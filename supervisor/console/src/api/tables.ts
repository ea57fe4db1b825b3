import { useQuery } from "@tanstack/react-query";
import { EVERYTHING, type Me, useMe } from "./me";
import { apiQuery } from "./query";

const RARELY_MS = 60_000;

/** The table that a supervisor feeds; null: it is not known, or whoever calls may do all anyway. */
export function useTableOf(supervisor: string | null): string | null {
  const me = useMe();
  const { data } = useQuery({
    ...apiQuery("/api/v1/supervisors", { query: { q: supervisor ?? "", sort: "id" } }),
    enabled: supervisor !== null && me !== undefined && isLimited(me),
    staleTime: RARELY_MS,
  });
  return data?.supervisors.find(({ id }) => id === supervisor)?.dataSource ?? null;
}

/** Whether it depends on the table what a caller may do. */
function isLimited({ asked, permissions }: Me): boolean {
  return asked && Object.values(permissions).some((tables) => !tables?.includes(EVERYTHING));
}
