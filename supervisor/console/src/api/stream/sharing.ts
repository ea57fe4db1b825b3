import type { QueryClient } from "@tanstack/react-query";
import { contact } from "../contact";
import { follow } from "./connection";
import { type Changes, Coalescer, refresh } from "./refresh";

/**
 * One stream per browser: without HTTP/2 it has six connections to an overlord, and each stream
 * holds one.
 *
 *     secure context      whoever has the lock holds the stream, and hands changes to other tabs
 *     plain http on a     there are no locks: the visible tab holds one, and lets it go 10 s after
 *     host's name         it was hidden
 */
const NAME = "tidegate:stream";
const LET_GO_MS = 10_000;

/** `opened`: the stream is there again, and nothing else is known. */
type Message = { all: boolean; supervisors: string[]; opened?: true };

/** Keeps queries fresh by the event stream until the returned function is called. */
export function startStream(client: QueryClient, onSessionOver: () => void): () => void {
  const stop = new AbortController();
  const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
  const coalescer = new Coalescer((changes) => {
    refresh(client, changes);
    channel?.postMessage(messageOf(changes));
  });
  const lookAtStatus = () => void client.invalidateQueries({ queryKey: ["/status"] });
  channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.opened === true) {
      lookAtStatus();
      return;
    }
    refresh(client, { all: data.all, supervisors: new Set(data.supervisors) });
  });
  const hold = (until: AbortSignal) =>
    follow(until, {
      onOpen: (isOpen) => {
        contact.setStream(isOpen);
        if (isOpen) {
          lookAtStatus(); // it may be another process that answers
          channel?.postMessage({ all: false, supervisors: [], opened: true } satisfies Message);
        }
      },
      onChange: (supervisor) => coalescer.add(supervisor),
      onSessionOver,
    });
  if ("locks" in navigator) {
    holdByLock(stop.signal, hold);
  } else {
    holdWhileVisible(stop.signal, hold);
  }
  return () => {
    stop.abort();
    channel?.close();
    contact.setStream(true); // nobody waits for it any more
  };
}

type Hold = (until: AbortSignal) => Promise<void>;

function holdByLock(stop: AbortSignal, hold: Hold): void {
  navigator.locks.request(NAME, { signal: stop }, () => hold(stop)).catch(() => undefined);
}

function holdWhileVisible(stop: AbortSignal, hold: Hold): void {
  let held: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const letGo = () => {
    held?.abort();
    held = null;
    contact.setStream(true);
  };
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") {
      timer = setTimeout(letGo, LET_GO_MS);
    } else if (held === null) {
      held = new AbortController();
      void hold(held.signal);
    }
  };
  document.addEventListener("visibilitychange", look, { signal: stop });
  stop.addEventListener("abort", letGo);
  look();
}

function messageOf(changes: Changes): Message {
  return { all: changes.all, supervisors: [...changes.supervisors] };
}
