import { type PathsOf, send } from "@/api/client";
import type { Action } from "@/components/action/action";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import { quoted } from "./supervisors";

export const REPLAY_EVENT = "/api/v1/queues/{container}/{name}/failed/{seq}/replay";
export const REPLAY_EVENTS = "/api/v1/queues/{container}/{name}/failed/replay";
export const DROP_EVENT = "/api/v1/queues/{container}/{name}/failed/{seq}";
export const REPAIR_QUEUE = "/api/v1/queues/{container}/{name}/repair";

export type QueueName = { container: string; name: string };

/** The dialog that queues an event that was set aside again. */
export function replayEventOf(queue: QueueName, seq: number): Action {
  return {
    title: `Replay event ${seq} of ${wordsOf(queue)}`,
    verb: "Replay",
    effect: "It is queued again, at the tail and with no attempts counted.",
    undo: "Cannot be undone. An event that fails again is set aside again.",
    command: `tidegate queue replay ${argumentsOf(queue)} ${seq}`,
    request: { verb: "post", path: filled(REPLAY_EVENT, { ...queue, seq }) },
    run: (key) => send("post", REPLAY_EVENT, { path: { ...queue, seq }, key }),
    done: `Event ${seq} is queued again.`,
  };
}

/** The dialog that queues all events again that were set aside. */
export function replayEventsOf(queue: QueueName, number: number): Action {
  return {
    title: `Replay all that ${wordsOf(queue)} has set aside`,
    verb: "Replay all",
    effect: `${counted(number, "event")} are queued again, oldest first; what cannot be stays.`,
    undo: "Cannot be undone. An event that fails again is set aside again.",
    command: `tidegate queue replay ${argumentsOf(queue)} --all`,
    request: { verb: "post", path: filled(REPLAY_EVENTS, queue) },
    run: (key) => send("post", REPLAY_EVENTS, { path: queue, key }),
    done: "The events are queued again.",
  };
}

/** The dialog that deletes an event that was set aside. */
export function dropEventOf(queue: QueueName, seq: number): Action {
  return {
    title: `Drop event ${seq} of ${wordsOf(queue)}`,
    verb: "Drop",
    effect: "It is deleted: its work is never done.",
    undo: "Cannot be undone.",
    command: `tidegate queue drop ${argumentsOf(queue)} ${seq}`,
    request: { verb: "delete", path: filled(DROP_EVENT, { ...queue, seq }) },
    confirm: String(seq),
    run: (key) => send("delete", DROP_EVENT, { path: { ...queue, seq }, key }),
    done: `Event ${seq} is dropped.`,
  };
}

/** The dialog that makes a dead queue live again. */
export function repairOf(queue: QueueName): Action {
  return {
    title: `Repair ${wordsOf(queue)}`,
    verb: "Repair",
    effect: "It lives again: sound events go on in their order, damaged ones are set aside.",
    undo: "Cannot be undone. Damaged events can be looked at where they are set aside.",
    command: `tidegate queue repair ${argumentsOf(queue)}`,
    request: { verb: "post", path: filled(REPAIR_QUEUE, queue) },
    run: (key) => send("post", REPAIR_QUEUE, { path: queue, key }),
    done: "The queue lives again.",
  };
}

function filled(
  path: PathsOf<"post"> | PathsOf<"delete">,
  at: Readonly<Record<string, string | number>>,
): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(at[name] ?? ""));
}

function wordsOf({ container, name }: QueueName): string {
  return `${visible(container)} ${visible(name)}`;
}

function argumentsOf({ container, name }: QueueName): string {
  return `${quoted(container)} ${quoted(name)}`;
}
