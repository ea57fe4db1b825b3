import type { Got } from "@/api/client";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";

const PATH = "/api/v1/executor";

export type Standing = Got<typeof PATH>;
export type Executor = Standing["executors"][number];
export type Partition = Standing["partitions"][number];

/** Who runs executions, and how far each partition is. */
export function useExecutors() {
  return useApi(PATH, {}, POLL_MS);
}
