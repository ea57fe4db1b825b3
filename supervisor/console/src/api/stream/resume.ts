/**
 * What a follower of the event stream does when its connection ends.  Pure.
 *
 *     ended       streams of proved callers end every 10 minutes    at once, behind the last id
 *     lost        the network, or the overlord, went away           soon, behind the last id
 *     silent      45 s without a heartbeat, or the laptop slept     at once, and all is looked at anew
 *     refused     400: the id is of another database                at once from now on, all anew
 *                 401: the session is over                          never
 *                 429, 5xx: too many, or no database                later
 */
export const HEARTBEAT_MS = 45_000;
const FIRST_WAIT_MS = 500;
const LAST_WAIT_MS = 10_000;

export type End =
  | { kind: "ended" }
  | { kind: "lost" }
  | { kind: "silent" }
  | { kind: "refused"; status: number; retryAfter: number | null };

export type Place = {
  /** The id of the last event; null: begin with what happens from now on. */
  lastId: string | null;
  /** Connections that failed in a row. */
  failures: number;
};

export type Next =
  | { go: true; place: Place; waitMs: number; anew: boolean }
  | { go: false; reason: "session-over" };

export function afterEnd(place: Place, end: End): Next {
  switch (end.kind) {
    case "ended":
      return { go: true, place: { ...place, failures: 0 }, waitMs: 0, anew: false };
    case "silent":
      return { go: true, place: { ...place, failures: 0 }, waitMs: 0, anew: true };
    case "lost":
      return later(place, 0);
    case "refused":
      return afterRefusal(place, end.status, end.retryAfter);
  }
}

function afterRefusal(place: Place, status: number, retryAfter: number | null): Next {
  if (status === 401) {
    return { go: false, reason: "session-over" };
  }
  if (status === 400 && place.lastId !== null) {
    return { go: true, place: { lastId: null, failures: place.failures }, waitMs: 0, anew: true };
  }
  return later(place, (retryAfter ?? 0) * 1_000);
}

function later(place: Place, leastMs: number): Next {
  const wait = Math.min(FIRST_WAIT_MS * 2 ** place.failures, LAST_WAIT_MS);
  const next = { ...place, failures: place.failures + 1 };
  return { go: true, place: next, waitMs: Math.max(wait, leastMs), anew: false };
}
