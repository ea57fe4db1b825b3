import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { previewedOf } from "./change";
import { SUSPEND, SUSPEND_EFFECT } from "./supervisors";

export const TERMINATE = "/druid/indexer/v1/supervisor/{supervisor_id}/terminate";
export const HANDOFF = "/druid/indexer/v1/supervisor/{supervisor_id}/taskGroups/handoff";

export const TERMINATE_EFFECT =
  "It reads nothing more. What was read so far is handed off and published; then it leaves the list of supervisors. Its table stays as it is.";

/** The dialog that lets a supervisor rest. */
export function suspendOf(id: string): Action {
  const name = visible(id);
  return {
    ...previewedOf("post", SUSPEND, { at: { supervisor_id: id } }),
    title: `Suspend ${name}`,
    verb: "Suspend",
    effect: SUSPEND_EFFECT,
    undo: "Resume it: it reads on where it stopped.",
    command: `tidegate supervisor suspend ${quoted(id)}`,
    supervisor: id,
    done: `${name} is suspended.`,
  };
}

/** The dialog that ends a supervisor. */
export function terminateOf(id: string): Action {
  const name = visible(id);
  return {
    ...previewedOf("post", TERMINATE, { at: { supervisor_id: id } }),
    title: `Terminate ${name}`,
    verb: "Terminate",
    effect: TERMINATE_EFFECT,
    undo: "Store its spec again: it goes on at its committed offsets, as long as Kafka holds them.",
    command: `tidegate supervisor terminate ${quoted(id)}`,
    supervisor: id,
    done: `${name} is terminated.`,
  };
}

/** The dialog that has groups publish before their time. */
export function handoffOf(id: string, groups: readonly number[]): Action {
  const name = visible(id);
  const options = groups.map((group) => ` --group ${group}`).join("");
  const which =
    groups.length === 1 ? `Group ${groups[0]} publishes` : `Groups ${groups.join(", ")} publish`;
  return {
    ...previewedOf("post", HANDOFF, {
      at: { supervisor_id: id },
      body: { taskGroupIds: [...groups] },
    }),
    title: `Hand off ${name}`,
    verb: "Hand off",
    effect: `${which} what was read so far before the taskDuration is over, and reading goes on behind it. A group that has read nothing is left alone.`,
    undo: "Cannot be undone; nothing is lost or read twice by it.",
    command: `tidegate supervisor handoff ${quoted(id)}${options}`,
    supervisor: id,
    done: `${name} hands off.`,
  };
}
