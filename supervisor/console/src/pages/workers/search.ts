import { type RawSearch, textIn } from "@/app/search";

/** The state of the list of workers, in its URL. */
export type WorkersSearch = {
  /** The row that the keys are at. */
  sel?: string | undefined;
};

export function workersSearch(search: RawSearch): WorkersSearch {
  return { sel: textIn(search, "sel")?.slice(0, 1_000) };
}
