import type { Remedy } from "@/api/overview";
import { repairOf, replayEventsOf } from "@/changes/queues";
import { resumeOf } from "@/changes/supervisors";
import { enableOf, forgetWorkerOf } from "@/changes/workers";
import type { Action } from "../action/action";

/** Returns the change behind a remedy; null: it has no dialog here, and its command is shown. */
export function actionOf(remedy: Remedy, supervisor: string | null): Action | null {
  if (remedy.action === "resume" && supervisor !== null) {
    return resumeOf(supervisor);
  }
  const { worker } = remedy.params;
  if (remedy.action === "enable-worker" && typeof worker === "string") {
    return enableOf(worker, remedy.command ?? undefined);
  }
  if (remedy.action === "forget-worker" && typeof worker === "string") {
    return forgetWorkerOf(worker);
  }
  const { container, queue: name } = remedy.params;
  if (typeof container !== "string" || typeof name !== "string") {
    return null;
  }
  if (remedy.action === "repair-queue") {
    return repairOf({ container, name });
  }
  return remedy.action === "replay-events" ? replayEventsOf({ container, name }, null) : null;
}
