import { type RawSearch, textIn } from "@/app/search";

/** Which tables of the list are wanted. */
export const ONLY = ["trouble", "exported", "empty"] as const;
export type Only = (typeof ONLY)[number];

/** The state of the list of tables, in its URL. */
export type TablesSearch = {
  q?: string | undefined;
  only?: Only | undefined;
  sort?: string | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

const SORT =
  /^-?(name|rows|bytes|files|smallFiles|unusedFiles|fileBytes|timeMax|lastPublishedAt|supervisors)$/;
const TEXT_MAX = 1_000;

export function tablesSearch(search: RawSearch): TablesSearch {
  const sort = textIn(search, "sort");
  const only = textIn(search, "only");
  return {
    q: textIn(search, "q")?.slice(0, TEXT_MAX),
    only: ONLY.find((each) => each === only),
    sort: sort !== undefined && SORT.test(sort) ? sort : undefined,
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}
