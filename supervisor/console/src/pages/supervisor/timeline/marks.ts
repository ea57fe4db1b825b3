import type { Got } from "@/api/client";
import { SAFETY_MS } from "@/api/query";
import type { components } from "@/api/schema";
import { useApi } from "@/api/use";
import type { IconName } from "@/components/Icon";
import { lookOf, type Tone } from "@/components/stateLook";
import { visible } from "@/text/visible";
import { WINDOWS, type Window } from "../search";

type EventKind = components["schemas"]["EventKind"];
export type EventView = Got<"/api/v1/events">["events"][number];

const HOUR_MS = 3_600_000;
const MOST = 200;
const KINDS: EventKind[] = [
  "supervisor-created",
  "spec-stored",
  "supervisor-suspended",
  "supervisor-resumed",
  "supervisor-terminated",
  "state-changed",
  "offsets-reset",
];

/** The changes of a supervisor in a window, newest first; its begin is that of `minute`. */
export function useMarks(id: string, window: Window, minute: number) {
  const from = new Date(minute - WINDOWS[window] * HOUR_MS).toISOString();
  const query = { supervisor: id, type: KINDS, from, limit: MOST };
  return useApi("/api/v1/events", { query }, SAFETY_MS);
}

/** A change of the supervisor: a picture, a word, and whether it is a trouble. */
export type ChangeMark = { id: number; at: number; text: string; icon: IconName; tone: Tone };

export function marksOf(events: readonly EventView[]): ChangeMark[] {
  return events.map(({ id, at, type, detail }) => ({
    id,
    at: Date.parse(at),
    ...shownAs(type, detail),
  }));
}

type Shown = Pick<ChangeMark, "text" | "icon" | "tone">;

function shownAs(type: string, detail: EventView["detail"]): Shown {
  const by = [`v${wordOf(detail.version)}`, wordOf(detail.author)].join(" ").trim();
  switch (type) {
    case "supervisor-created":
    case "spec-stored":
      return { text: by, icon: "spec", tone: "note" };
    case "supervisor-suspended":
      return { text: "suspended", icon: "paused", tone: "dim" };
    case "supervisor-resumed":
      return { text: "resumed", icon: "steady", tone: "dim" };
    case "supervisor-terminated":
      return { text: "terminated", icon: "close", tone: "dim" };
    case "offsets-reset":
      return { text: "offsets set", icon: "steady", tone: "risk" };
    case "state-changed": {
      const state = wordOf(detail.state);
      const text = wordOf(detail.detailedState) || state;
      return { text, ...lookOf(state, text, detail.healthy !== false) };
    }
    default:
      return { text: visible(type), icon: "note", tone: "note" };
  }
}

function wordOf(value: unknown): string {
  const isPlain = ["string", "number", "bigint"].includes(typeof value);
  return isPlain ? visible(String(value)) : "";
}
