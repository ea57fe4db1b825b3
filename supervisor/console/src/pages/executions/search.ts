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

/** The state of the list of executions, in its URL. */
export type ExecutionsSearch = {
  flow?: string | undefined;
  state?: State[] | undefined;
  since?: Window | undefined;
  /** The execution whose subflow steps started them. */
  parent?: string | undefined;
  sel?: string | undefined;
};

export const NO_FILTER = {
  flow: undefined,
  state: undefined,
  since: undefined,
  parent: undefined,
} as const;
const TEXT_MAX = 1_000;
const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];

export function executionsSearch(search: RawSearch): ExecutionsSearch {
  const states = listIn(search, "state");
  const chosen = STATES.filter((state) => states.includes(state));
  const since = textIn(search, "since");
  return {
    flow: textIn(search, "flow")?.slice(0, TEXT_MAX),
    state: chosen.length > 0 ? chosen : undefined,
    since: WINDOW_NAMES.find((name) => name === since),
    parent: textIn(search, "parent")?.slice(0, TEXT_MAX),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

/** Whether a filter is set. */
export function isFiltered({ flow, state, since, parent }: ExecutionsSearch): boolean {
  return [flow, state, since, parent].some((each) => each !== undefined);
}
