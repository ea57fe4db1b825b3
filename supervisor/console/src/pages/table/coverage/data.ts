import { useQueries } from "@tanstack/react-query";
import { apiQuery, SAFETY_MS } from "@/api/query";
import type { Coverage } from "./shape";

const PATH = "/api/v1/supervisors/{supervisor_id}/coverage";
/** Supervisors that are asked at once; of more, one at a time is chosen. */
export const ASKED_MAX = 8;

export type Coverages = {
  all: Coverage[];
  isPending: boolean;
  failed: { id: string; retry: () => void; problem: NonNullable<Asked["error"]> }[];
};
type Asked = ReturnType<typeof useQueries<ReturnType<typeof optionsOf>[]>>[number];

/** The coverage of some supervisors; what one of them lacks hides nothing of the others. */
export function useCoverages(ids: readonly string[]): Coverages {
  const asked = useQueries({ queries: ids.map(optionsOf) });
  return {
    all: asked.flatMap(({ data }) => (data === undefined ? [] : [data])),
    isPending: asked.some(({ isPending }) => isPending),
    failed: asked.flatMap(({ error, refetch }, index) =>
      error === null ? [] : [{ id: ids[index] ?? "", problem: error, retry: () => void refetch() }],
    ),
  };
}

function optionsOf(id: string) {
  return { ...apiQuery(PATH, { path: { supervisor_id: id } }), refetchInterval: SAFETY_MS };
}
