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
export type ChangeMark = {
  id: number;
  at: number;
  text: string;
  /** The same in a sentence. */
  title: string;
  /** The number of a version that was stored; null: it is another change. */
  version: string | null;
  icon: IconName;
  tone: Tone;
};

export function marksOf(events: readonly EventView[]): ChangeMark[] {
  return events.map(({ id, at, type, detail }) => ({
    id,
    at: Date.parse(at),
    ...shownAs(type, detail),
  }));
}

type Shown = Omit<ChangeMark, "id" | "at">;

function shownAs(type: string, detail: EventView["detail"]): Shown {
  switch (type) {
    case "supervisor-created":
    case "spec-stored":
      return versionShown(wordOf(detail.version), wordOf(detail.author));
    case "supervisor-suspended":
      return other("suspended", "paused", "dim");
    case "supervisor-resumed":
      return other("resumed", "steady", "dim");
    case "supervisor-terminated":
      return other("terminated", "close", "dim");
    case "offsets-reset":
      return other("offsets set", "steady", "risk");
    case "state-changed": {
      const state = wordOf(detail.state);
      const text = wordOf(detail.detailedState) || state;
      const { icon, tone } = lookOf(state, text, detail.healthy !== false);
      return other(text, icon, tone);
    }
    default:
      return other(visible(type), "note", "note");
  }
}

function versionShown(version: string, author: string): Shown {
  const by = author === "" ? "" : ` by ${author}`;
  return {
    text: [`v${version}`, author].join(" ").trim(),
    title: `version ${version} of the spec was stored${by}`,
    version,
    icon: "spec",
    tone: "note",
  };
}

function other(text: string, icon: IconName, tone: Tone): Shown {
  return { text, title: text, version: null, icon, tone };
}

function wordOf(value: unknown): string {
  const isPlain = ["string", "number", "bigint"].includes(typeof value);
  return isPlain ? visible(String(value)) : "";
}
