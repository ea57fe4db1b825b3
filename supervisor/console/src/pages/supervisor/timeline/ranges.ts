import {
  keepPreviousData,
  type QueryClient,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { get } from "@/api/client";
import { contact } from "@/api/contact";
import type { Problem } from "@/api/problem";
import { WINDOWS, type Window } from "../search";
import type { Range, RangesPage } from "./phases";

const PATH = "/api/v1/supervisors/{supervisor_id}/generations";
/** Steps of short ranges take seconds. */
const POLL_MS = 2_000;
const HOUR_MS = 3_600_000;
/** What ended shortly before the last look is asked for again: clocks differ. */
const OVERLAP_MS = 60_000;
const PAGE = 1_000;
const PAGES_MAX = 10;

/** The ranges of a window, newest first. */
export type Ranges = {
  ranges: Range[];
  /** When they were asked for, in ms. */
  at: number;
  /** Whether there are more than are shown, older ones. */
  isCut: boolean;
};

/**
 * The ranges of a window.  The first look reads all of them; each later one only those that live, or
 * have ended since.
 */
export function useRanges(id: string, window: Window, group: string | undefined) {
  const client = useQueryClient();
  const queryKey = [PATH, { path: { supervisor_id: id }, query: { window, group } }];
  return useQuery<Ranges, Problem>({
    queryKey,
    queryFn: async ({ signal }) => {
      const at = contact.now();
      const begin = at - WINDOWS[window] * HOUR_MS;
      const before = knownOf(client, queryKey);
      const from = before === undefined ? begin : Math.max(before.at - OVERLAP_MS, begin);
      const pages = await pagesFrom(id, from, group, signal);
      const fresh = pages.flatMap(({ generations }) => generations);
      const isCut = before?.isCut === true || (pages.at(-1)?.next ?? null) !== null;
      return { ranges: merged(before?.ranges ?? [], fresh, begin), at, isCut };
    },
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
}

function knownOf(client: QueryClient, key: readonly unknown[]): Ranges | undefined {
  return client.getQueryData<Ranges>(key);
}

async function pagesFrom(
  id: string,
  from: number,
  group: string | undefined,
  signal: AbortSignal,
): Promise<RangesPage[]> {
  const pages: RangesPage[] = [];
  let cursor: string | null = null;
  do {
    const query = {
      from: new Date(from).toISOString(),
      limit: PAGE,
      ...(group === undefined ? {} : { group: Number(group) }),
      ...(cursor === null ? {} : { cursor }),
    };
    const page: RangesPage = await get(PATH, { path: { supervisor_id: id }, query }, signal);
    pages.push(page);
    cursor = page.next;
  } while (cursor !== null && pages.length < PAGES_MAX);
  return pages;
}

/** Puts newer ranges in the place of older ones, and leaves out what ended before the window. */
export function merged(known: readonly Range[], fresh: readonly Range[], begin: number): Range[] {
  const byId = new Map([...known, ...fresh].map((range) => [range.id, range]));
  return [...byId.values()]
    .filter(({ endedAt }) => endedAt === null || Date.parse(endedAt) >= begin)
    .sort((one, other) => other.ordinal - one.ordinal);
}
