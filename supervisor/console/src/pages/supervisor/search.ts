import { listIn, type RawSearch, textIn } from "@/app/search";

/** The changes that a supervisor's page has a dialog for. */
export const DIALOGS = ["reset", "suspend", "resume", "terminate", "handoff"] as const;
export type DialogName = (typeof DIALOGS)[number];

/** Where offsets may be set to. */
export const PLACES = ["earliest", "latest", "time", "shift", "offsets", "json", "beside"] as const;
export type Place = (typeof PLACES)[number];

/** What all tabs of a supervisor share: the dialog that is open, and what is filled in. */
export type DialogSearch = {
  do?: DialogName | undefined;
  to?: Place | undefined;
  at?: string | undefined;
  shift?: string | undefined;
  /** Partitions with their next offsets: `3=89324`. */
  offset?: string[] | undefined;
};

export const NO_DIALOG: DialogSearch = {
  do: undefined,
  to: undefined,
  at: undefined,
  shift: undefined,
  offset: undefined,
};

const OFFSETS_MAX = 1_000;
const TEXT_MAX = 300;
const VALUE_MAX = 4_000;

export function dialogSearch(search: RawSearch): DialogSearch {
  const name = wordIn(search, "do", DIALOGS);
  if (name === undefined) {
    return NO_DIALOG; // each name is there: what the router finds in a URL would stay
  }
  const offsets = listIn(search, "offset")
    .filter((text) => /^.{1,260}=-?\d{1,19}$/.test(text))
    .slice(0, OFFSETS_MAX);
  return {
    do: name,
    to: wordIn(search, "to", PLACES),
    at: textIn(search, "at")?.slice(0, TEXT_MAX),
    shift: textIn(search, "shift")?.slice(0, TEXT_MAX),
    offset: offsets.length > 0 ? offsets : undefined,
  };
}

/** Spans of time that a history is shown for, in hours. */
export const WINDOWS = { "1h": 1, "6h": 6, "24h": 24 } as const;
export type Window = keyof typeof WINDOWS;
const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];

export type OverviewSearch = { window?: Window | undefined };

export function overviewSearch(search: RawSearch): OverviewSearch {
  return { window: wordIn(search, "window", WINDOW_NAMES) };
}

export const ONLY = ["behind", "at-risk"] as const;
export type PartitionsSearch = {
  sort?: string | undefined;
  only?: (typeof ONLY)[number] | undefined;
  /** A part of the topic's name. */
  topic?: string | undefined;
  group?: string | undefined;
  sel?: string | undefined;
  /** The partition that is open beside the list: `topic:number`. */
  open?: string | undefined;
};

const SORT = /^-?(partition|lagRecords|lagMillis|headroomRecords|headroomMillis)$/;

export function partitionsSearch(search: RawSearch): PartitionsSearch {
  const sort = textIn(search, "sort");
  return {
    sort: sort !== undefined && SORT.test(sort) ? sort : undefined,
    only: wordIn(search, "only", ONLY),
    topic: textIn(search, "topic")?.slice(0, TEXT_MAX),
    group: textIn(search, "group")?.slice(0, TEXT_MAX),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
    open: textIn(search, "open")?.slice(0, TEXT_MAX),
  };
}

/** The views of a spec. */
export const SPEC_VIEWS = ["form", "json", "diff"] as const;
export type SpecView = (typeof SPEC_VIEWS)[number];
export type SpecSearch = {
  view?: SpecView | undefined;
  /** The field that a step leads to, as a JSON pointer. */
  field?: string | undefined;
  /** The value that the step proposes for it, as JSON. */
  value?: string | undefined;
};

export function specSearch(search: RawSearch): SpecSearch {
  const pointer = textIn(search, "field");
  const field = pointer?.startsWith("/") ? pointer.slice(0, TEXT_MAX) : undefined;
  const value = field === undefined ? undefined : textIn(search, "value");
  return {
    view: wordIn(search, "view", SPEC_VIEWS),
    field,
    value: value === undefined || value.length > VALUE_MAX ? undefined : value,
  };
}

export const DIFF_FORMS = ["unified", "side"] as const;
export type HistorySearch = {
  /** The versions that are compared, by number. */
  left?: number | undefined;
  right?: number | undefined;
  diff?: (typeof DIFF_FORMS)[number] | undefined;
  /** Whether lines that are the same are shown, too. */
  all?: "yes" | undefined;
  /** The version of the dialog that rolls back. */
  rollback?: number | undefined;
  sel?: string | undefined;
};

export function historySearch(search: RawSearch): HistorySearch {
  return {
    left: versionIn(search, "left"),
    right: versionIn(search, "right"),
    diff: wordIn(search, "diff", DIFF_FORMS),
    all: wordIn(search, "all", ["yes"]),
    rollback: versionIn(search, "rollback"),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

function versionIn(search: RawSearch, name: string): number | undefined {
  const text = textIn(search, name);
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** Returns a parameter if it is one of some words. */
export function wordIn<T extends string>(
  search: RawSearch,
  name: string,
  words: readonly T[],
): T | undefined {
  const text = textIn(search, name);
  return words.find((word) => word === text);
}

/** Returns the narrowest window that shows a moment. */
export function windowOf(at: string, now = Date.now()): Window {
  const hours = (now - Date.parse(at)) / 3_600_000;
  return WINDOW_NAMES.find((name) => WINDOWS[name] > hours) ?? "24h";
}
