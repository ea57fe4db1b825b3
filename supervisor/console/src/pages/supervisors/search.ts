import { listIn, type RawSearch, textIn } from "@/app/search";

/** The state of the list of supervisors, in its URL. */
export type SupervisorsSearch = {
  q?: string | undefined;
  state?: string[] | undefined;
  table?: string | undefined;
  topic?: string | undefined;
  /** `no`: those that need somebody. */
  healthy?: "no" | undefined;
  /** `yes`: those that are terminated, instead. */
  ended?: "yes" | undefined;
  sort?: string | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

const TEXTS = ["q", "table", "topic", "sel"] as const;
const SORT = /^-?[A-Za-z]{1,30}$/;
const STATES_MAX = 20;

export function supervisorsSearch(search: RawSearch): SupervisorsSearch {
  const checked: SupervisorsSearch = {};
  for (const name of TEXTS) {
    checked[name] = textIn(search, name)?.slice(0, 1_000);
  }
  const states = listIn(search, "state").slice(0, STATES_MAX);
  const sort = textIn(search, "sort");
  // Each name is there: what the router finds in a URL stays unless something takes its place.
  return {
    ...checked,
    state: states.length > 0 ? states : undefined,
    healthy: textIn(search, "healthy") === "no" ? "no" : undefined,
    ended: textIn(search, "ended") === "yes" ? "yes" : undefined,
    sort: sort !== undefined && SORT.test(sort) ? sort : undefined,
  };
}

/** Whether a filter is set. */
export function isFiltered({ q, state, table, topic, healthy }: SupervisorsSearch): boolean {
  return [q, state, table, topic, healthy].some((each) => each !== undefined);
}
