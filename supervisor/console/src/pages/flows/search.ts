import { type RawSearch, textIn } from "@/app/search";

/** The state of the list of flows, in its URL. */
export type FlowsSearch = { q?: string | undefined; sel?: string | undefined };

const TEXT_MAX = 1_000;

export function flowsSearch(search: RawSearch): FlowsSearch {
  return {
    q: textIn(search, "q")?.slice(0, TEXT_MAX),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}
