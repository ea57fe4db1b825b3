import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import { type Got, get, type Params } from "@/api/client";
import type { Problem } from "@/api/problem";
import { POLL_MS } from "@/api/query";
import type { EventsSearch } from "./search";

const PATH = "/api/v1/events";
/** Not a path: what refreshes the events leaves a list alone that is to rest. */
const RESTING = "events at rest";
const PAGE = 200;

type Page = Got<typeof PATH>;
type Query = NonNullable<Params<typeof PATH, "get">["query"]>;
export type EventView = Page["events"][number];
/** Events, newest first, and the cursor of what is before them; null: there is nothing. */
export type Feed = Pick<Page, "events" | "next" | "completeSince" | "missing">;

/**
 * The events of a supervisor, newest first.  Events never change: only the newest page is read again,
 * as long as new events are wanted.
 */
export function useFeed(id: string, search: EventsSearch) {
  const client = useQueryClient();
  const query = queryOf(id, search);
  const isLive = search.tail === undefined && search.until === undefined;
  const queryKey = [isLive ? PATH : RESTING, { query }];
  const { data, error, refetch } = useQuery<Feed, Problem>({
    queryKey,
    queryFn: async ({ signal }) => {
      const newest = await get(PATH, { query: { ...query, limit: PAGE } }, signal);
      return joined(client.getQueryData<Feed>(queryKey), newest);
    },
    refetchInterval: isLive ? POLL_MS : false,
    refetchOnWindowFocus: isLive ? "always" : false,
  });
  const isReading = useRef(false);
  const cursor = data?.next ?? null;
  const key = JSON.stringify(queryKey);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key has the query
  const more = useCallback(async () => {
    if (cursor === null || isReading.current) {
      return;
    }
    isReading.current = true;
    try {
      const page = await get(PATH, { query: { ...query, limit: PAGE, cursor } });
      client.setQueryData<Feed>(queryKey, (before) => before && extended(before, page));
    } catch {
      // The next look at the newest page shows what is wrong; the end of the list asks again.
    } finally {
      isReading.current = false;
    }
  }, [client, cursor, key]);
  return { data, error, refetch, more: useCallback(() => void more(), [more]), isLive };
}

function queryOf(id: string, { type, since, until }: EventsSearch): Query {
  return {
    supervisor: id,
    ...(type === undefined ? {} : { type: type as NonNullable<Query["type"]> }),
    ...(since === undefined ? {} : { from: since }),
    ...(until === undefined ? {} : { to: until }),
  };
}

/**
 * Puts the newest page before what is known.  Where more has happened between two looks than a page
 * holds, the list begins anew with that page.
 */
export function joined(known: Feed | undefined, newest: Feed): Feed {
  const lowest = newest.events.at(-1)?.id;
  const highest = known?.events[0]?.id;
  const meets = newest.next === null || (lowest !== undefined && (highest ?? -1) >= lowest);
  if (known === undefined || !meets) {
    return newest;
  }
  // A page that reaches as far down as what is known says anew what the archive cannot give.
  const isWhole = lowest !== undefined && lowest <= (known.events.at(-1)?.id ?? lowest);
  const { next, missing = null } = isWhole ? newest : known;
  return { ...newest, events: united(newest.events, known.events), next, missing };
}

/** Puts an older page behind what is known. */
export function extended(known: Feed, older: Feed): Feed {
  return { ...older, events: united(known.events, older.events) };
}

function united(first: readonly EventView[], others: readonly EventView[]): EventView[] {
  const byId = new Map([...others, ...first].map((event) => [event.id, event]));
  return [...byId.values()].sort((one, other) => other.id - one.id);
}
