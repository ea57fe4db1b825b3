import { useParams } from "@tanstack/react-router";
import { useTables } from "../tables/rows";

/** The table that the page is about. */
export function useTableName(): string {
  return useParams({ from: "/shell/tables/$ds" }).ds;
}

/** Its totals; data null: there is no such table, or the caller may not read it. */
export function useStats(name: string) {
  const query = useTables();
  const data = query.data && (query.data.find((each) => each.name === name) ?? null);
  return { ...query, data };
}
