import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { sendingOf } from "./change";

export const PAUSE_TRIGGER = "/api/v1/flows/{flow}/triggers/{trigger}/pause";
export const RESUME_TRIGGER = "/api/v1/flows/{flow}/triggers/{trigger}/resume";
export const FIRE_TRIGGER = "/api/v1/flows/{flow}/triggers/{trigger}/fire";

/** A trigger: the flow that has it, and its name in it. */
export type TriggerName = { flow: string; trigger: string };

/** The dialog that lets a trigger fire no more. */
export function pauseTriggerOf({ flow, trigger }: TriggerName): Action {
  return {
    ...sendingOf("post", PAUSE_TRIGGER, { at: { flow, trigger } }),
    title: `Pause the trigger ${visible(trigger)}`,
    verb: "Pause",
    effect:
      "It fires no more. What comes meanwhile is passed by, and is not made up later. What it has started goes on.",
    undo: "Resume it.",
    command: `tidegate flow trigger ${quoted(flow)} ${quoted(trigger)} --pause`,
    done: `The trigger ${visible(trigger)} is paused.`,
  };
}

/** The dialog that lets a paused trigger fire again. */
export function resumeTriggerOf({ flow, trigger }: TriggerName): Action {
  return {
    ...sendingOf("post", RESUME_TRIGGER, { at: { flow, trigger } }),
    title: `Resume the trigger ${visible(trigger)}`,
    verb: "Resume",
    effect: "It fires for what comes from now on. What came while it was paused is not made up.",
    undo: "Pause it again.",
    command: `tidegate flow trigger ${quoted(flow)} ${quoted(trigger)} --resume`,
    done: `The trigger ${visible(trigger)} fires again.`,
  };
}

/** The dialog that starts an execution as a trigger would. */
export function fireTriggerOf({ flow, trigger }: TriggerName): Action {
  return {
    ...sendingOf("post", FIRE_TRIGGER, { at: { flow, trigger } }),
    title: `Fire the trigger ${visible(trigger)} now`,
    verb: "Fire now",
    effect:
      "One execution begins now, also of a paused trigger. When it fires next stays as it is.",
    undo: "Kill the execution; what its steps have done stays done.",
    command: `tidegate flow trigger ${quoted(flow)} ${quoted(trigger)} --now`,
    done: (answer) => `${visible(executionIn(answer) || trigger)} is started.`,
  };
}

/** The execution that the overlord names in its answer; empty: the answer got lost. */
function executionIn(answer: unknown): string {
  const execution = (answer as { execution?: unknown } | undefined)?.execution;
  return typeof execution === "string" ? execution : "";
}
