import { writeJson } from "@/api/json";
import type { Remedy } from "@/api/overview";
import type { SpecSearch } from "@/pages/supervisor/search";

/** Where a remedy that only looks leads to; null: it is a change, or nothing of the console. */
export function placeOf({ action, params }: Remedy, supervisor: string | null) {
  const { task, range } = params;
  if (action === "open-log" && typeof task === "string") {
    return { to: "/tasks/$task/log", params: { task } } as const;
  }
  if (action === "list-dead-letters") {
    return { to: "/logs/dead-letters" } as const;
  }
  if (action === "open-executors") {
    return { to: "/executors" } as const;
  }
  if (action === "list-dead-inputs") {
    return { to: "/executors/dead-inputs" } as const;
  }
  if (supervisor === null) {
    return null;
  }
  if (action === "open-range" && typeof range === "string") {
    const search = { range, window: "24h" } as const;
    return { to: "/supervisors/$id/timeline", params: { id: supervisor }, search } as const;
  }
  if (action === "open-bad-records") {
    return { to: "/supervisors/$id/bad-records", params: { id: supervisor } } as const;
  }
  if (action === "edit-spec") {
    const search = specSearchOf(params);
    return { to: "/supervisors/$id/spec", params: { id: supervisor }, search } as const;
  }
  return null;
}

/** The field of the spec that a step is about, and the value that it proposes, if it has one. */
function specSearchOf({ pointer, value }: Remedy["params"]): SpecSearch {
  return {
    field: typeof pointer === "string" ? pointer : undefined,
    value: value === undefined ? undefined : writeJson(value),
  };
}
