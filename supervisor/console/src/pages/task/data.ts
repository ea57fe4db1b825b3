import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type Got, get } from "@/api/client";
import type { Problem } from "@/api/problem";
import { apiQuery, POLL_MS, SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { countedOf, factsOf, type Position } from "./facts";

export type Task = Got<"/druid/indexer/v1/task/{task_id}/status">["status"];
const GENERATIONS = "/api/v1/supervisors/{supervisor_id}/generations";
export type Range = Got<typeof GENERATIONS>["generations"][number];

/** Pages of ranges that are looked through for one. */
const PAGES_MAX = 20;

/** The task that the page is about. */
export function useTaskId(): string {
  return useParams({ from: "/shell/tasks/$task" }).task;
}

export function isActive(task: Pick<Task, "status"> | undefined): boolean {
  return task === undefined || task.status === "RUNNING";
}

/** A supervisor that was submitted as a task has the row of one, and no range. */
export function isSubmitted({ generationId }: Pick<Task, "generationId">): boolean {
  return generationId === "";
}

export function useTask(id: string) {
  const path = "/druid/indexer/v1/task/{task_id}/status";
  return useApi(path, { path: { task_id: id } }, POLL_MS);
}

/** The payload, `{task, payload}`, as it came. */
export function usePayload(id: string) {
  return useApi("/druid/indexer/v1/task/{task_id}", { path: { task_id: id } }, SAFETY_MS);
}

/** What the payload says of the task's range; null: nothing; undefined: it is not known yet. */
export function useFacts(id: string) {
  const { data } = usePayload(id);
  return data === undefined ? undefined : factsOf(data.payload);
}

export function useReport(task: Task) {
  const path = "/druid/indexer/v1/task/{task_id}/reports";
  return useApi(path, { path: { task_id: task.id } }, isActive(task) ? POLL_MS : SAFETY_MS);
}

/** What the task has counted; null: it has not reported, or not yet. */
export function useCounted(task: Task) {
  const { data, error } = useReport(task);
  return data === undefined ? (error === null ? undefined : null) : countedOf(data);
}

/** Where a task that runs is; null: its supervisor's status does not name it. */
export function usePosition({ id, supervisorId, status }: Task): Position | null {
  const path = "/druid/indexer/v1/supervisor/{supervisor_id}/status";
  const { data } = useQuery({
    ...apiQuery(path, { path: { supervisor_id: supervisorId } }),
    refetchInterval: POLL_MS,
    enabled: status === "RUNNING",
  });
  if (data === undefined || status !== "RUNNING") {
    return null;
  }
  const { activeTasks, publishingTasks } = data.payload;
  return [...activeTasks, ...publishingTasks].find((each) => each.id === id) ?? null;
}

/** The range of a task with all attempts at it; null: it is not on record any more. */
export function useRange({ supervisorId, generationId, createdTime, status }: Task, group: number) {
  const at = Date.parse(createdTime);
  const query = {
    group,
    from: new Date(at).toISOString(),
    to: new Date(at + 1).toISOString(),
  };
  return useQuery<Range | null, Problem>({
    queryKey: [GENERATIONS, { path: { supervisor_id: supervisorId }, query }, generationId],
    queryFn: async ({ signal }) => {
      let cursor: string | null = null;
      for (let pages = 0; pages < PAGES_MAX; pages += 1) {
        const page: Got<typeof GENERATIONS> = await get(
          GENERATIONS,
          {
            path: { supervisor_id: supervisorId },
            query: { ...query, ...(cursor === null ? {} : { cursor }) },
          },
          signal,
        );
        const range = page.generations.find(({ id }) => id === generationId);
        if (range !== undefined || page.next === null) {
          return range ?? null;
        }
        cursor = page.next;
      }
      return null;
    },
    refetchInterval: status === "RUNNING" ? POLL_MS : SAFETY_MS,
  });
}
