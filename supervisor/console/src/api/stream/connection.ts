import { createParser, type EventSourceMessage } from "eventsource-parser";
import { contact } from "../contact";
import type { components } from "../schema";
import { afterEnd, type End, HEARTBEAT_MS, type Place } from "./resume";

type EventKind = components["schemas"]["EventKind"];

/**
 * The types that a browser follows: what changes a state.  Handoffs are left out: a busy overlord
 * has hundreds a second.  The pages of one supervisor poll for them.
 */
const TYPES: readonly EventKind[] = [
  "supervisor-created",
  "spec-stored",
  "supervisor-suspended",
  "supervisor-resumed",
  "supervisor-terminated",
  "state-changed",
  "stream-silent",
  "stream-answers",
  "offsets-reset",
  "gap-declared",
  "handoff-asked",
  "generation-discarded",
  "replicas-diverged",
];
const PATH = `/api/v1/events/stream?${TYPES.map((type) => `type=${type}`).join("&")}`;
const WATCH_MS = 5_000;

export type Following = {
  onOpen: (isOpen: boolean) => void;
  /** The supervisor that an event is of; null: look at everything anew. */
  onChange: (supervisor: string | null) => void;
  onSessionOver: () => void;
};

/** Follows the events until it is stopped: connects, and connects again. */
export async function follow(stop: AbortSignal, following: Following): Promise<void> {
  let place: Place = { lastId: null, failures: 0 };
  while (!stop.aborted) {
    const { end, lastId } = await connect(stop, place.lastId, following);
    if (stop.aborted) {
      return;
    }
    const next = afterEnd({ ...place, lastId }, end);
    if (!next.go) {
      following.onSessionOver();
      return;
    }
    if (next.anew) {
      following.onChange(null);
    }
    place = next.place;
    await pause(next.waitMs, stop);
  }
}

/** Holds one connection; returns how it ended, and the id of its last event. */
async function connect(
  stop: AbortSignal,
  after: string | null,
  following: Following,
): Promise<{ end: End; lastId: string | null }> {
  const silence = new AbortController();
  const watch = watchSilence(() => silence.abort());
  let lastId = after;
  const parser = createParser({
    onEvent: (event) => {
      lastId = event.id ?? lastId;
      following.onChange(supervisorOf(event));
    },
  });
  try {
    const response = await fetch(PATH, {
      headers: {
        Accept: "application/problem+json, text/event-stream",
        "X-Tidegate-Console": "1",
        ...(after === null ? {} : { "Last-Event-ID": after }),
      },
      signal: AbortSignal.any([stop, silence.signal]),
    });
    if (!response.ok || response.body === null) {
      return { end: refusal(response), lastId };
    }
    following.onOpen(true);
    if (after === null) {
      following.onChange(null); // what happened between the page's first look and now
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      contact.hear();
      watch.reset();
      parser.feed(part.value);
    }
    return { end: { kind: "ended" }, lastId };
  } catch {
    return { end: { kind: silence.signal.aborted ? "silent" : "lost" }, lastId };
  } finally {
    watch.stop();
    following.onOpen(false);
  }
}

/** Calls `onSilence` 45 s after the last reset, also if the machine slept meanwhile. */
function watchSilence(onSilence: () => void): { reset: () => void; stop: () => void } {
  let heardAt = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - heardAt >= HEARTBEAT_MS) {
      onSilence();
    }
  }, WATCH_MS);
  return {
    reset: () => {
      heardAt = Date.now();
    },
    stop: () => clearInterval(timer),
  };
}

function refusal(response: Response): End {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const retryAfter = Number.isNaN(seconds) ? null : seconds;
  return { kind: "refused", status: response.status, retryAfter };
}

function supervisorOf(event: EventSourceMessage): string | null {
  if (event.event === "trimmed") {
    return null;
  }
  try {
    const { supervisorId } = JSON.parse(event.data) as { supervisorId?: unknown };
    return typeof supervisorId === "string" ? supervisorId : null;
  } catch {
    return null;
  }
}

function pause(millis: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    stop.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
