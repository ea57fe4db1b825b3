import { type RawSearch, textIn } from "@/app/search";
import { WINDOWS, type Window, wordIn } from "../search";

const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];
const ID_MAX = 300;
const GROUP = /^\d{1,9}$/;

export type TimelineSearch = {
  window?: Window | undefined;
  group?: string | undefined;
  only?: "failed" | undefined;
  as?: "table" | undefined;
  /** The range that is open in the panel. */
  range?: string | undefined;
};

export function timelineSearch(search: RawSearch): TimelineSearch {
  const group = textIn(search, "group");
  return {
    window: wordIn(search, "window", WINDOW_NAMES),
    group: group !== undefined && GROUP.test(group) ? group : undefined,
    only: wordIn(search, "only", ["failed"]),
    as: wordIn(search, "as", ["table"]),
    range: textIn(search, "range")?.slice(0, ID_MAX),
  };
}
