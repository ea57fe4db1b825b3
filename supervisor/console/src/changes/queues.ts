import type { Action } from "@/components/action/action";
import { counted } from "@/text/numbers";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { sendingOf } from "./change";

export const REPLAY_EVENT = "/api/v1/queues/{container}/{name}/failed/{seq}/replay";
export const REPLAY_EVENTS = "/api/v1/queues/{container}/{name}/failed/replay";
export const DROP_EVENT = "/api/v1/queues/{container}/{name}/failed/{seq}";
export const REPAIR_QUEUE = "/api/v1/queues/{container}/{name}/repair";

export type QueueName = { container: string; name: string };

/** The dialog that queues an event that was set aside again. */
export function replayEventOf(queue: QueueName, seq: number): Action {
  return {
    ...sendingOf("post", REPLAY_EVENT, { at: { ...queue, seq } }),
    title: `Replay event ${seq} of ${wordsOf(queue)}`,
    verb: "Replay",
    effect: "It is queued again, at the tail and with no attempts counted.",
    undo: "Cannot be undone. An event that fails again is set aside again.",
    command: `tidegate queue replay ${argumentsOf(queue)} ${seq}`,
    done: `Event ${seq} is queued again.`,
  };
}

/** The dialog that queues all events again that were set aside; `number` null: not known. */
export function replayEventsOf(queue: QueueName, number: number | null): Action {
  const events = number === null ? "All events" : counted(number, "event");
  return {
    ...sendingOf("post", REPLAY_EVENTS, { at: queue }),
    title: `Replay all that ${wordsOf(queue)} has set aside`,
    verb: "Replay all",
    effect: `${events} are queued again, oldest first; what cannot be stays.`,
    undo: "Cannot be undone. An event that fails again is set aside again.",
    command: `tidegate queue replay ${argumentsOf(queue)} --all`,
    done: "The events are queued again.",
  };
}

/** The dialog that deletes an event that was set aside. */
export function dropEventOf(queue: QueueName, seq: number): Action {
  return {
    ...sendingOf("delete", DROP_EVENT, { at: { ...queue, seq } }),
    title: `Drop event ${seq} of ${wordsOf(queue)}`,
    verb: "Drop",
    effect: "It is deleted: its work is never done.",
    undo: "Cannot be undone.",
    command: `tidegate queue drop ${argumentsOf(queue)} ${seq}`,
    confirm: String(seq),
    done: `Event ${seq} is dropped.`,
  };
}

/** The dialog that makes a dead queue live again. */
export function repairOf(queue: QueueName): Action {
  return {
    ...sendingOf("post", REPAIR_QUEUE, { at: queue }),
    title: `Repair ${wordsOf(queue)}`,
    verb: "Repair",
    effect: "It lives again: sound events go on in their order, damaged ones are set aside.",
    undo: "Cannot be undone. Damaged events can be looked at where they are set aside.",
    command: `tidegate queue repair ${argumentsOf(queue)}`,
    done: "The queue lives again.",
  };
}

function wordsOf({ container, name }: QueueName): string {
  return `${visible(container)} ${visible(name)}`;
}

function argumentsOf({ container, name }: QueueName): string {
  return `${quoted(container)} ${quoted(name)}`;
}
