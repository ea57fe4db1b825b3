import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { sendingOf } from "./change";

export const KILL = "/api/v1/executions/{execution}/kill";
export const PAUSE = "/api/v1/executions/{execution}/pause";
export const RESUME = "/api/v1/executions/{execution}/resume";
export const RERUN = "/api/v1/executions/{execution}/rerun";
export const RETRY = "/api/v1/executions/{execution}/runs/{run}/retry";
export const SKIP = "/api/v1/executions/{execution}/runs/{run}/skip";
export const ANSWER = "/api/v1/executions/{execution}/runs/{run}/answer";

/** A step of an execution: its task run, and the name of the step. */
export type RunName = { execution: string; run: string; step: string };

/** The dialog that ends an execution. */
export function killOf(execution: string): Action {
  return {
    ...sendingOf("post", KILL, { at: { execution } }),
    title: `Kill ${visible(execution)}`,
    verb: "Kill",
    effect:
      "What has not begun does not begin, and what runs is cancelled. Its finally steps run; then it ends as KILLED.",
    undo: "Cannot be undone. What its steps have done stays done.",
    command: `tidegate execution kill ${quoted(execution)}`,
    done: "It is being killed.",
  };
}

/** The dialog that ends an execution at once. */
export function killAtOnceOf(execution: string): Action {
  return {
    ...sendingOf("post", KILL, { at: { execution }, query: { force: "true" } }),
    title: `Kill ${visible(execution)} at once`,
    verb: "Kill at once",
    effect:
      "It ends as KILLED now. What runs is not waited for, so that it may go on for a while, and no finally step begins.",
    undo: "Cannot be undone. What its steps have done stays done.",
    command: `tidegate execution kill ${quoted(execution)} --force`,
    done: "It is killed.",
  };
}

/** The dialog that lets no further step begin. */
export function pauseOf(execution: string): Action {
  return {
    ...sendingOf("post", PAUSE, { at: { execution } }),
    title: `Pause ${visible(execution)}`,
    verb: "Pause",
    effect: "No further step begins. What runs now goes on to its end.",
    undo: "Resume it.",
    command: `tidegate execution pause ${quoted(execution)}`,
    done: "It is paused.",
  };
}

/** The dialog that lets a paused execution go on. */
export function resumeOf(execution: string): Action {
  return {
    ...sendingOf("post", RESUME, { at: { execution } }),
    title: `Resume ${visible(execution)}`,
    verb: "Resume",
    effect: "It goes on: steps whose turn has come begin.",
    undo: "Pause it again.",
    command: `tidegate execution resume ${quoted(execution)}`,
    done: "It goes on.",
  };
}

/** The dialog that tries a step again. */
export function retryOf({ execution, run, step }: RunName): Action {
  return {
    ...sendingOf("post", RETRY, { at: { execution, run } }),
    title: `Try the step ${visible(step)} again`,
    verb: "Try again",
    effect: "Another attempt begins now. One that is under way is given up.",
    undo: "Cannot be undone.",
    command: `tidegate execution retry ${quoted(execution)} ${run}`,
    done: `${visible(step)} is tried again.`,
  };
}

/** The dialog that goes on without a step. */
export function skipOf({ execution, run, step }: RunName): Action {
  return {
    ...sendingOf("post", SKIP, { at: { execution, run } }),
    title: `Skip the step ${visible(step)}`,
    verb: "Skip",
    effect: "The step ends as SKIPPED, which counts as done: the steps after it begin.",
    undo: "Cannot be undone.",
    command: `tidegate execution skip ${quoted(execution)} ${run}`,
    done: `${visible(step)} is skipped.`,
  };
}

/** The dialog that answers the question of an `approve` step. */
export function answerOf(
  { execution, run, step }: RunName,
  { yes, comment }: { yes: boolean; comment: string },
): Action {
  const more = comment === "" ? "" : ` --comment ${quoted(comment)}`;
  return {
    ...sendingOf("post", ANSWER, { at: { execution, run }, body: { yes, comment } }),
    title: `Answer ${visible(step)}`,
    verb: yes ? "Say yes" : "Say no",
    effect: yes
      ? "The step ends as SUCCESS, and the steps after it begin."
      : "The step fails with your name and comment: what its onError says follows.",
    undo: "Cannot be undone.",
    command: `tidegate execution approve ${quoted(execution)} ${run}${yes ? "" : " --no"}${more}`,
    done: yes ? `${visible(step)} is answered with yes.` : `${visible(step)} is answered with no.`,
  };
}
