import { send } from "@/api/client";
import type { Action } from "@/components/action/action";
import { visible } from "@/text/visible";

export const SUSPEND = "/druid/indexer/v1/supervisor/{supervisor_id}/suspend";
export const RESUME = "/druid/indexer/v1/supervisor/{supervisor_id}/resume";

export const SUSPEND_EFFECT =
  "Nothing new is read. What was read so far is handed off and published; no record is lost.";
export const RESUME_EFFECT = "It reads on where it stopped; nothing is skipped or read twice.";

export function suspend(id: string, key: string): Promise<unknown> {
  return send("post", SUSPEND, { path: { supervisor_id: id }, key });
}

export function resume(id: string, key: string): Promise<unknown> {
  return send("post", RESUME, { path: { supervisor_id: id }, key });
}

/** The dialog that lets a suspended supervisor go on. */
export function resumeOf(id: string): Action {
  const name = visible(id);
  return {
    title: `Resume ${name}`,
    verb: "Resume",
    effect: RESUME_EFFECT,
    undo: "Suspend it again.",
    command: `tidegate supervisor resume ${quoted(id)}`,
    request: { verb: "post", path: RESUME.replace("{supervisor_id}", encodeURIComponent(id)) },
    run: (key) => resume(id, key),
    done: `${name} goes on.`,
  };
}

/** Writes a name for a shell. */
export function quoted(text: string): string {
  return /^[A-Za-z0-9_.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
