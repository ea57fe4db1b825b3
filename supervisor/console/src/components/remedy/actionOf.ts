import type { Remedy } from "@/api/overview";
import { resumeOf } from "@/changes/supervisors";
import { enableOf } from "@/changes/workers";
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
  return null;
}
