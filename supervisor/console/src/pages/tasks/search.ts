import { listIn, type RawSearch, textIn } from "@/app/search";

/** Which tasks are listed; without a word those that are active: running and pending. */
export const STATES = ["running", "pending", "own-failures", "failed", "succeeded", "all"] as const;
export type TaskState = (typeof STATES)[number];

/** What tasks are grouped by, in the words of the URL; a generation is called a range here. */
export const GROUPINGS = ["supervisor", "generation", "worker"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The state of a list of tasks, in its URL. */
export type TasksSearch = {
  q?: string | undefined;
  state?: TaskState | undefined;
  supervisor?: string | undefined;
  /** The number of a task group, as text. */
  group?: string | undefined;
  /** The id of a range. */
  generation?: string | undefined;
  worker?: string | undefined;
  by?: Grouping | undefined;
  /** The groups whose tasks are shown below their heads. */
  unfolded?: string[] | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

/** What the overlord takes at most. */
const TEXT_MAX = 200;
const UNFOLDED_MAX = 200;
const GROUP_MAX = 2 ** 31 - 1;
const TEXTS = ["q", "supervisor", "generation", "worker", "sel"] as const;

export function tasksSearch(search: RawSearch): TasksSearch {
  const checked: TasksSearch = {};
  for (const name of TEXTS) {
    checked[name] = textIn(search, name)?.slice(0, TEXT_MAX);
  }
  const state = textIn(search, "state");
  const by = GROUPINGS.find((word) => word === textIn(search, "by"));
  const unfolded = listIn(search, "unfolded").slice(0, UNFOLDED_MAX);
  // Each name is there: what the router finds in a URL stays unless something takes its place.
  return {
    ...checked,
    state: STATES.find((word) => word === state),
    group: groupIn(textIn(search, "group")),
    by,
    unfolded: by === undefined || unfolded.length === 0 ? undefined : unfolded,
  };
}

/** Returns the number of a group, as text, if the text is one. */
export function groupIn(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) && Number(text) <= GROUP_MAX
    ? text
    : undefined;
}

export const NO_FILTER: TasksSearch = {
  q: undefined,
  state: undefined,
  supervisor: undefined,
  group: undefined,
  generation: undefined,
  worker: undefined,
};

/** Whether a filter beside the state is set. */
export function isNarrowed({ q, supervisor, group, generation, worker }: TasksSearch): boolean {
  return [q, supervisor, group, generation, worker].some((each) => each !== undefined);
}
