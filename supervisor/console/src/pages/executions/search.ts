import { listIn, type RawSearch, textIn } from "@/app/search";

export const STATES = [
  "QUEUED",
  "RUNNING",
  "PAUSED",
  "KILLING",
  "SUCCESS",
  "FAILED",
  "KILLED",
] as const;
export type State = (typeof STATES)[number];
/** How far back the list goes -> its length in ms. */
export const WINDOWS = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 } as const;
export type Window = keyof typeof WINDOWS;
/** What starts an execution: somebody's request, a trigger, or another execution. */
export const STARTERS = [
  "request",
  "schedule",
  "published",
  "webhook",
  "subflow",
  "rerun",
] as const;
export type Starter = (typeof STARTERS)[number];

/** The state of the list of executions, in its URL. */
export type ExecutionsSearch = {
  flow?: string | undefined;
  state?: State[] | undefined;
  since?: Window | undefined;
  /** The execution whose subflow steps started them. */
  parent?: string | undefined;
  /** Each as `name:value`: with all of them. */
  label?: string[] | undefined;
  startedBy?: Starter | undefined;
  /** The name of the trigger that started them. */
  trigger?: string | undefined;
  /** A text in the error. */
  error?: string | undefined;
  sel?: string | undefined;
};

export const NO_FILTER = {
  flow: undefined,
  state: undefined,
  since: undefined,
  parent: undefined,
  label: undefined,
  startedBy: undefined,
  trigger: undefined,
  error: undefined,
} as const;
const TEXT_MAX = 1_000;
/** So many labels the overlord takes at once. */
export const LABELS_MAX = 10;
const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];

export function executionsSearch(search: RawSearch): ExecutionsSearch {
  const states = listIn(search, "state");
  const chosen = STATES.filter((state) => states.includes(state));
  const since = textIn(search, "since");
  const labels = listIn(search, "label").filter((label) => label !== "");
  const startedBy = textIn(search, "startedBy");
  return {
    flow: textIn(search, "flow")?.slice(0, TEXT_MAX),
    state: chosen.length > 0 ? chosen : undefined,
    since: WINDOW_NAMES.find((name) => name === since),
    parent: textIn(search, "parent")?.slice(0, TEXT_MAX),
    label: labels.length > 0 ? [...new Set(labels)].slice(0, LABELS_MAX) : undefined,
    startedBy: STARTERS.find((name) => name === startedBy),
    trigger: textIn(search, "trigger")?.slice(0, TEXT_MAX),
    error: textIn(search, "error")?.slice(0, TEXT_MAX),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

/** Whether a filter is set. */
export function isFiltered(search: ExecutionsSearch): boolean {
  return Object.keys(NO_FILTER).some(
    (name) => search[name as keyof typeof NO_FILTER] !== undefined,
  );
}
