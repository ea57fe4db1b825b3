import { send } from "@/api/client";
import type { Action } from "@/components/action/action";
import { visible } from "@/text/visible";
import { quoted } from "./supervisors";

export const END_TASK = "/druid/indexer/v1/task/{task_id}/shutdown";

/** The dialog that ends a task; another one reads its range again. */
export function endTaskOf(task: string, _supervisor?: string): Action {
  const name = visible(task);
  return {
    title: `End the task ${name}`,
    verb: "End task",
    effect: "It ends as FAILED. What it has not published is read again by the task that follows.",
    undo: "Cannot be undone; no record is lost.",
    command: `tidegate task stop ${quoted(task)}`,
    request: { verb: "post", path: END_TASK.replace("{task_id}", encodeURIComponent(task)) },
    run: (key) => send("post", END_TASK, { path: { task_id: task }, key }),
    done: `The task ${name} ends.`,
  };
}
