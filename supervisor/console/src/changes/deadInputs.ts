import type { Got } from "@/api/client";
import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import { sendingOf } from "./change";

export const REPLAY_INPUT = "/api/v1/executor/dead/{offset}/replay";
export const DROP_INPUT = "/api/v1/executor/dead/{offset}";

export type DeadInput = Got<typeof DROP_INPUT>;

/** The dialog that sends an input to its execution once more. */
export function replayInputOf(input: DeadInput): Action {
  const name = nameOf(input);
  return {
    ...sendingOf("post", REPLAY_INPUT, partsOf(input)),
    title: `Replay the dead input ${name}`,
    verb: "Replay",
    effect: `${wordsOf(input)} It is sent to its execution once more. If it still cannot be worked in, it is a new dead input.`,
    undo: "Cannot be undone. An input that its execution knows already changes nothing.",
    command: `tidegate execution dead replay ${quoted(name)}`,
    done: `The dead input ${name} was sent once more.`,
  };
}

/** The dialog that notes that nobody wants a dead input. */
export function dropInputOf(input: DeadInput): Action {
  const name = nameOf(input);
  return {
    ...sendingOf("delete", DROP_INPUT, partsOf(input)),
    title: `Drop the dead input ${name}`,
    verb: "Drop",
    effect: `${wordsOf(input)} It is listed no more among those that wait, and its execution never gets it.`,
    undo: "Until its age deletes it: list those that were handled, and replay it.",
    command: `tidegate execution dead drop ${quoted(name)}`,
    confirm: name,
    done: `The dead input ${name} is dropped.`,
  };
}

/** The name of a dead input: its offset among them. */
export function nameOf({ offset }: DeadInput): string {
  return String(offset);
}

function wordsOf({ bytes: size, execution, reason }: DeadInput): string {
  const to = execution === null ? "" : ` for ${visible(execution)}`;
  return `An input of ${bytes(size)}${to} could not be worked in: ${visible(reason)}.`;
}

/** The place of an input, bound to the very one that was shown: another one is left alone. */
function partsOf({ offset, sha256 }: DeadInput) {
  return { at: { offset: String(offset) }, query: { sha256 } };
}
