import { type RawSearch, textIn } from "@/app/search";

/** The state of a search, in its URL; both views have these filters in common. */
type CommonSearch = {
  supervisor?: string | undefined;
  dataSource?: string | undefined;
  worker?: string | undefined;
  task?: string | undefined;
  /** Times with their zone, as the API takes them. */
  from?: string | undefined;
  to?: string | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

export type LinesSearch = CommonSearch & {
  level?: LineLevel | undefined;
  text?: string | undefined;
};

export type ReportsSearch = CommonSearch & {
  status?: Outcome | undefined;
  type?: ReportType | undefined;
  origin?: ReportOrigin | undefined;
};

export const LEVELS = ["WARNING", "ERROR", "CRITICAL"] as const;
export const OUTCOMES = ["FAILED", "SUCCESS"] as const;
export const TYPES = ["task_result", "task_report", "progress", "combined"] as const;
export const ORIGINS = ["stream", "compaction", "execution", "supervisor"] as const;
export type LineLevel = (typeof LEVELS)[number];
export type Outcome = (typeof OUTCOMES)[number];
export type ReportType = (typeof TYPES)[number];
export type ReportOrigin = (typeof ORIGINS)[number];

export const NO_FILTER = {
  supervisor: undefined,
  dataSource: undefined,
  worker: undefined,
  task: undefined,
  from: undefined,
  to: undefined,
};
export const NO_LINE_FILTER = { ...NO_FILTER, level: undefined, text: undefined };
export const NO_REPORT_FILTER = {
  ...NO_FILTER,
  status: undefined,
  type: undefined,
  origin: undefined,
};
const NAME_MAX = 256;
const TEXT_MAX = 200;

export function linesSearch(search: RawSearch): LinesSearch {
  return {
    ...commonOf(search),
    level: LEVELS.find((word) => word === textIn(search, "level")),
    text: textIn(search, "text")?.slice(0, TEXT_MAX),
  };
}

export function reportsSearch(search: RawSearch): ReportsSearch {
  return {
    ...commonOf(search),
    status: OUTCOMES.find((word) => word === textIn(search, "status")),
    type: TYPES.find((word) => word === textIn(search, "type")),
    origin: ORIGINS.find((word) => word === textIn(search, "origin")),
  };
}

/** The filters that are set, as parameters of the API. */
export function filterOf<S extends CommonSearch>(search: S): SetIn<S> {
  const set = Object.entries(search).filter(
    ([name, value]) => name !== "sel" && value !== undefined,
  );
  return Object.fromEntries(set) as SetIn<S>;
}

type SetIn<S> = { [name in Exclude<keyof S, "sel">]?: Exclude<S[name], undefined> };

/** Whether a filter is set. */
export function isFiltered(search: CommonSearch): boolean {
  return Object.keys(filterOf(search)).length > 0;
}

function commonOf(search: RawSearch): CommonSearch {
  const textOf = (name: keyof CommonSearch) => textIn(search, name)?.slice(0, NAME_MAX);
  return {
    supervisor: textOf("supervisor"),
    dataSource: textOf("dataSource"),
    worker: textOf("worker"),
    task: textOf("task"),
    from: textOf("from"),
    to: textOf("to"),
    sel: textOf("sel"),
  };
}
