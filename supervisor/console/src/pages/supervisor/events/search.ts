import { listIn, type RawSearch, textIn } from "@/app/search";
import { wordIn } from "../search";

const TYPE = /^[a-z][a-z-]{0,60}$/;
const TYPES_MAX = 50;
const EVENT = /^\d{1,19}$/;

export type EventsSearch = {
  type?: string[] | undefined;
  /** ISO 8601, in UTC.  `to` would be where a dialog begins elsewhere. */
  since?: string | undefined;
  until?: string | undefined;
  /** Whether new events come by themselves. */
  tail?: "off" | undefined;
  /** The event that is open in the panel. */
  event?: string | undefined;
};

export function eventsSearch(search: RawSearch): EventsSearch {
  const types = listIn(search, "type").filter((type) => TYPE.test(type));
  const event = textIn(search, "event");
  return {
    type: types.length > 0 ? types.slice(0, TYPES_MAX) : undefined,
    since: momentIn(search, "since"),
    until: momentIn(search, "until"),
    tail: wordIn(search, "tail", ["off"]),
    event: event !== undefined && EVENT.test(event) ? event : undefined,
  };
}

function momentIn(search: RawSearch, name: string): string | undefined {
  const at = Date.parse(textIn(search, name) ?? "");
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** Whether a list may leave events out. */
export function isFiltered({ type, since, until }: EventsSearch): boolean {
  return type !== undefined || since !== undefined || until !== undefined;
}
