import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { previewedOf } from "./change";

export const END_TASK = "/druid/indexer/v1/task/{task_id}/shutdown";
export const END_TASKS = "/druid/indexer/v1/datasources/{data_source}/shutdownAllTasks";

/** The dialog that ends a task; another one reads its range again. */
export function endTaskOf(task: string, supervisor?: string): Action {
  const name = visible(task);
  return {
    ...previewedOf("post", END_TASK, { at: { task_id: task } }),
    title: `End the task ${name}`,
    verb: "End task",
    effect: "It ends as FAILED. What it has not published is read again by the task that follows.",
    undo: "Cannot be undone; no record is lost.",
    command: `tidegate task stop ${quoted(task)}`,
    ...(supervisor === undefined ? {} : { supervisor }),
    done: `The task ${name} ends.`,
  };
}

/** The dialog that ends all tasks of a table. */
export function endTasksOf(table: string): Action {
  const name = visible(table);
  return {
    ...previewedOf("post", END_TASKS, { at: { data_source: table } }),
    title: `End all tasks of ${name}`,
    verb: "End tasks",
    effect: "They end as FAILED. What they have not published is read again by those that follow.",
    undo: "Cannot be undone; no record is lost.",
    command: `tidegate task stop-all ${quoted(table)}`,
    done: `The tasks of ${name} end.`,
  };
}
