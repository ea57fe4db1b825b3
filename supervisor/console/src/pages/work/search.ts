import { listIn, type RawSearch, textIn } from "@/app/search";

export const KINDS = ["operation", "backfill", "compaction", "export"] as const;
export type Kind = (typeof KINDS)[number];
/** What becomes of work: it goes on, it waits for somebody, or it has ended. */
export const STATES = ["running", "trouble", "ended"] as const;
export type Standing = (typeof STATES)[number];

/** The state of the list, in its URL; a filter that is not there lets everything through. */
export type WorkSearch = {
  kind?: Kind[] | undefined;
  state?: Standing[] | undefined;
  sel?: string | undefined;
};

const TEXT_MAX = 1_000;

export function workSearch(search: RawSearch): WorkSearch {
  return {
    kind: wordsIn(listIn(search, "kind"), KINDS),
    state: wordsIn(listIn(search, "state"), STATES),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

function wordsIn<T extends string>(texts: readonly string[], words: readonly T[]): T[] | undefined {
  const known = words.filter((word) => texts.includes(word));
  return known.length === 0 ? undefined : known;
}
