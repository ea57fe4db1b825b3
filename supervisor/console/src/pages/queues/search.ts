import { type RawSearch, textIn } from "@/app/search";

export const ONLY = ["unhealthy", "waiting", "aside"] as const;
type Only = (typeof ONLY)[number];

/** The state of the list of queues, in its URL. */
export type QueuesSearch = {
  q?: string | undefined;
  only?: Only | undefined;
  sel?: string | undefined;
};

/** The state of one queue's page: the event that is open. */
export type QueueSearch = { event?: number | undefined; sel?: string | undefined };

const TEXT_MAX = 1_000;

export function queuesSearch(search: RawSearch): QueuesSearch {
  const only = textIn(search, "only");
  return {
    q: textIn(search, "q")?.slice(0, TEXT_MAX),
    only: ONLY.find((word) => word === only),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

export function queueSearch(search: RawSearch): QueueSearch {
  const event = textIn(search, "event") ?? "";
  return {
    event: /^\d{1,15}$/.test(event) ? Number(event) : undefined,
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}
