import { Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { contact } from "@/api/contact";
import { usePreferences } from "@/app/preferences";
import { age, ago, clock, moment, span, stamp } from "@/text/times";
import { Unknown } from "./Unknown";

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = contact.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = contact.now();
    for (const each of listeners) {
      each();
    }
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The overlord's time in ms, to the second; whoever uses it is drawn anew each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

type TimeProps = { at: string | null | undefined; unknown: string };

/** How long ago something was, with the moment itself in its title. */
export function Age({ at, unknown }: TimeProps) {
  const ticking = useNow();
  return at ? <Moment at={at}>{age(ticking - Date.parse(at))}</Moment> : <Unknown why={unknown} />;
}

/** How long ago something was, as words in a sentence: "12 s ago", "just now". */
export function Ago({ at, unknown }: TimeProps) {
  const ticking = useNow();
  return at ? <Moment at={at}>{ago(ticking - Date.parse(at))}</Moment> : <Unknown why={unknown} />;
}

/** Of when a lag is: records come all the time, and Kafka is looked at now and then. */
export function AsOf({
  at,
  words = "unread records",
}: {
  at: string | null | undefined;
  words?: string;
}) {
  return at ? (
    <>
      {words}, as of <Ago at={at} unknown="" />
    </>
  ) : (
    words
  );
}

/** How long something has lasted, as "for 16 s"; the moment when it began is in its title. */
export function Lasting({ at, unknown }: TimeProps) {
  const ticking = useNow();
  if (!at) {
    return <Unknown why={unknown} />;
  }
  return <Moment at={at}>{`for ${age(ticking - Date.parse(at)).replace("now", "1 s")}`}</Moment>;
}

/** The time until something is due; past it: by how much it is late. */
export function Due({ at, unknown }: TimeProps) {
  const ticking = useNow();
  if (!at) {
    return <Unknown why={unknown} />;
  }
  const left = Date.parse(at) - ticking;
  return (
    <Moment at={at}>
      {left >= 0
        ? `in ${age(left).replace("now", "1 s")}`
        : `${age(-left).replace("now", "1 s")} late`}
    </Moment>
  );
}

/** The time of day of a moment, with its day in the title. */
export function Clock({ at, unknown }: TimeProps) {
  const { zone } = usePreferences();
  return at ? <Moment at={at}>{clock(new Date(at), zone)}</Moment> : <Unknown why={unknown} />;
}

/** Day and time of a moment, for lists that go back for days. */
export function Stamp({ at, unknown }: TimeProps) {
  const { zone } = usePreferences();
  return at ? <Moment at={at}>{stamp(new Date(at), zone)}</Moment> : <Unknown why={unknown} />;
}

/** A span of time in ms. */
export function Span({ millis, unknown }: { millis: number | null | undefined; unknown: string }) {
  return typeof millis === "number" ? <span>{span(millis)}</span> : <Unknown why={unknown} />;
}

function Moment({ at, children }: { at: string; children: string }) {
  const { zone } = usePreferences();
  return (
    <Tooltip label={moment(new Date(at), zone)}>
      <time dateTime={at}>{children}</time>
    </Tooltip>
  );
}
