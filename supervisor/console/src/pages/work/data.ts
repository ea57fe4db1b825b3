import { useMemo } from "react";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import type { Queried } from "@/components/QueryView";
import { ofCompaction, ofExport, ofOperation, ofSupervisor, type Work } from "./work";

const LIMIT = 200;

/** All four lists as one: what has answered is shown, and what has not is a problem above it. */
export function useWork(): Queried<Work[]> {
  const operations = useApi("/api/v1/operations", { query: { limit: LIMIT } }, POLL_MS);
  const compactions = useApi("/api/v1/compactions", { query: { limit: LIMIT } }, POLL_MS);
  const exported = useApi("/api/v1/exports", {}, POLL_MS);
  const bounded = { bounded: true, sort: "-versionAt" as const, limit: LIMIT };
  const backfills = useApi("/api/v1/supervisors", { query: bounded }, POLL_MS);
  const data = useMemo<Work[]>(
    () => [
      ...(operations.data?.operations ?? []).map(ofOperation),
      ...(compactions.data?.compactions ?? []).map(ofCompaction),
      ...(exported.data?.exports ?? []).map(ofExport).filter((each) => each !== null),
      ...(backfills.data?.supervisors ?? []).map(ofSupervisor).filter((each) => each !== null),
    ],
    [operations.data, compactions.data, exported.data, backfills.data],
  );
  const queries = [operations, compactions, exported, backfills];
  const error = queries.find((query) => query.error !== null)?.error ?? null;
  const isKnown = queries.every((query) => query.data !== undefined || query.error !== null);
  const isEmpty = queries.every((query) => query.data === undefined);
  return {
    data: isKnown && !isEmpty ? data : undefined,
    error,
    refetch: () => Promise.all(queries.map((query) => query.refetch())),
  };
}
