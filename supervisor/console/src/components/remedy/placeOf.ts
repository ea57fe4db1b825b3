import type { Remedy } from "@/api/overview";

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
    return { to: "/supervisors/$id/spec", params: { id: supervisor } } as const;
  }
  return null;
}
