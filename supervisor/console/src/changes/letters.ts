import type { Got } from "@/api/client";
import type { Action } from "@/components/action/action";
import { counted } from "@/text/numbers";
import { quoted } from "@/text/shell";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import { sendingOf } from "./change";

export const REPLAY_LETTER = "/api/v1/dead-letters/{partition}/{offset}/replay";
export const DROP_LETTER = "/api/v1/dead-letters/{partition}/{offset}";

export type Letter = Got<typeof DROP_LETTER>;

/** A letter as a list shows it, and the persister that has it. */
export type LetterOf = { letter: Letter; persister: string };

/** The dialog that stores the record of a dead letter, if it can be stored now. */
export function replayLetterOf(of: LetterOf): Action {
  const name = nameOf(of.letter);
  return {
    ...sendingOf("post", REPLAY_LETTER, partsOf(of)),
    title: `Replay the dead letter ${name}`,
    verb: "Replay",
    effect: `${wordsOf(of.letter)} It is stored if it can be stored now; else it stays here, with the new reason.`,
    undo: "Cannot be undone. What is stored already is left as it is: nothing is stored twice.",
    command: `tidegate reports dead replay ${argumentsOf(of.letter)}`,
    done: (answer) => replayed(name, answer as Letter | undefined),
  };
}

/** The dialog that notes that nobody wants a dead letter. */
export function dropLetterOf(of: LetterOf): Action {
  const name = nameOf(of.letter);
  return {
    ...sendingOf("delete", DROP_LETTER, partsOf(of)),
    title: `Drop the dead letter ${name}`,
    verb: "Drop",
    effect: `${wordsOf(of.letter)} It is listed no more among those that wait, and its record is not stored.`,
    undo: "Until its age deletes it: list those that were handled, and replay it.",
    command: `tidegate reports dead drop ${argumentsOf(of.letter)}`,
    confirm: name,
    done: `The dead letter ${name} is dropped.`,
  };
}

/** The name of a letter: its partition and its offset. */
export function nameOf({ partition, offset }: Letter): string {
  return `${partition}-${offset}`;
}

/** What became of a replay: it is done, also where the record is refused again. */
function replayed(name: string, answer: Letter | undefined): string {
  const handled = answer?.handled;
  switch (handled?.outcome) {
    case undefined:
      return `The dead letter ${name} was replayed.`;
    case "stored":
      return `The record of the dead letter ${name} is stored.`;
    case "conflict":
    case "mismatch":
      return `The record of the dead letter ${name} was stored already.`;
    case "rejected":
      return `The dead letter ${name} still cannot be stored: ${visible(handled?.detail ?? "")}.`;
    default:
      return `The dead letter ${name} was replayed: ${visible(handled?.outcome ?? "")}.`;
  }
}

function wordsOf({ bytes: size, reason }: Letter): string {
  return `A record of ${bytes(size)} could not be stored: ${visible(reason)}.`;
}

/** The place of a letter, bound to the very one that was shown: another one is left alone. */
function partsOf({ letter: { partition, offset, sha256 }, persister }: LetterOf) {
  const at = { partition: String(partition), offset: String(offset) };
  return { at, query: { ...(persister === "" ? {} : { persister }), sha256 } };
}

function argumentsOf({ partition, offset }: Letter): string {
  return `${quoted(String(partition))} ${quoted(String(offset))}`;
}

/** How many letters there are, in a sentence. */
export function numberOf(letters: readonly unknown[], hasMore: boolean): string {
  return `${hasMore ? "The newest " : ""}${counted(letters.length, "record")}`;
}
