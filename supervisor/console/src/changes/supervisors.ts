import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { previewedOf, sendingOf } from "./change";

export { quoted };

export const SUSPEND = "/druid/indexer/v1/supervisor/{supervisor_id}/suspend";
export const RESUME = "/druid/indexer/v1/supervisor/{supervisor_id}/resume";
export const FORGET = "/api/v1/supervisors/{supervisor_id}/forget";
export const ROLLBACK = "/api/v1/supervisors/{supervisor_id}/rollback";

export const SUSPEND_EFFECT =
  "Nothing new is read. What was read so far is handed off and published; no record is lost.";
export const RESUME_EFFECT = "It reads on where it stopped; nothing is skipped or read twice.";

/** The dialog that lets a suspended supervisor go on. */
export function resumeOf(id: string): Action {
  const name = visible(id);
  return {
    ...previewedOf("post", RESUME, { at: { supervisor_id: id } }),
    title: `Resume ${name}`,
    verb: "Resume",
    effect: RESUME_EFFECT,
    undo: "Suspend it again.",
    command: `tidegate supervisor resume ${quoted(id)}`,
    supervisor: id,
    done: `${name} goes on.`,
  };
}

/** The dialog that deletes what is kept of a terminated supervisor. */
export function forgetOf(id: string): Action {
  const name = visible(id);
  return {
    ...previewedOf("post", FORGET, { at: { supervisor_id: id } }),
    title: `Forget ${name}`,
    verb: "Forget",
    effect: "Its history and its committed offsets are deleted; its table stays as it is.",
    undo: "Cannot be undone.",
    command: `tidegate supervisor forget ${quoted(id)}`,
    supervisor: id,
    done: `${name} is forgotten.`,
  };
}

/** The dialog that stores a version of a terminated supervisor's spec again. */
export function bringBackOf(id: string, version: number): Action {
  const name = visible(id);
  return {
    ...sendingOf("post", ROLLBACK, { at: { supervisor_id: id }, body: { version } }),
    title: `Bring ${name} back`,
    verb: "Bring back",
    effect: `Version ${version} of its spec becomes the newest again. It goes on at its committed offsets, as long as Kafka holds them.`,
    undo: "Terminate it again.",
    command: `tidegate supervisor rollback ${quoted(id)} --to ${version}`,
    supervisor: id,
    done: `${name} is back.`,
  };
}
