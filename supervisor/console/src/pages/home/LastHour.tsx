import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { get } from "@/api/client";
import type { Problem } from "@/api/problem";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Clock, useNow } from "@/components/Time";
import { counted } from "@/text/numbers";
import changes from "./Changes.module.css";
import { describe } from "./describe";
import { type Happened, HOUR_MS, KINDS, MINUTE_MS, type Minute, minutesOf, wordsOf } from "./hour";
import classes from "./LastHour.module.css";

const MOST = 1_000;
const LISTED = 50;
const HIGHEST = 10;

type Page = { events: Happened[]; isCut: boolean };

/** The last hour, minute by minute: handoffs, failures and changes; a click lists a minute. */
export function LastHour() {
  // Not under the path of the events: each of them would have the whole hour asked for again.
  const query = useQuery<Page, Problem>({
    queryKey: ["the last hour"],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - HOUR_MS).toISOString();
      const wanted = { type: KINDS, from, limit: MOST };
      const { events, next } = await get("/api/v1/events", { query: wanted }, signal);
      return { events, isCut: next !== null && events.length >= MOST };
    },
    refetchInterval: MINUTE_MS,
    staleTime: MINUTE_MS / 2,
  });
  return (
    <Panel title="The last hour">
      <QueryView query={query} lines={2}>
        {(page) => <Minutes page={page} />}
      </QueryView>
    </Panel>
  );
}

function Minutes({ page: { events, isCut } }: { page: Page }) {
  const now = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS;
  const minutes = useMemo(() => minutesOf(events, now), [events, now]);
  const [chosenAt, setChosenAt] = useState<number | null>(null);
  const chosen = minutes.find(({ at, events: those }) => at === chosenAt && those.length > 0);
  const isQuiet = minutes.every((minute) => minute.events.length === 0);
  return (
    <>
      <section className={classes.strip} aria-label="Minutes of the last hour">
        {minutes.map((minute) => (
          <MinuteBar
            key={minute.at}
            minute={minute}
            isChosen={minute === chosen}
            onChoose={() => setChosenAt(minute === chosen ? null : minute.at)}
          />
        ))}
      </section>
      <p className={classes.key}>
        <span data-sort="failure">failures</span>
        <span data-sort="change">changes</span>
        <span data-sort="handoff">handoffs</span>
        {isQuiet && <span>Nothing of these has happened.</span>}
        {isCut && <span>{`Only the newest ${MOST} events are counted.`}</span>}
      </p>
      {chosen !== undefined && <Listed minute={chosen} />}
    </>
  );
}

type BarProps = { minute: Minute; isChosen: boolean; onChoose: () => void };

function MinuteBar({ minute, isChosen, onChoose }: BarProps) {
  const { at, counts, events } = minute;
  if (events.length === 0) {
    return <span className={classes.minute} />;
  }
  const when = new Date(at).toISOString().slice(11, 16);
  const parts = (["failure", "change", "handoff"] as const).filter((sort) => counts[sort] > 0);
  return (
    <button
      type="button"
      className={classes.minute}
      aria-pressed={isChosen}
      aria-label={`${when} UTC: ${wordsOf(minute)}`}
      title={wordsOf(minute)}
      onClick={onChoose}
    >
      {parts.map((sort) => (
        <i
          key={sort}
          data-sort={sort}
          style={{ flexGrow: 0, flexBasis: `${Math.min(counts[sort], HIGHEST) * 3 + 3}px` }}
        />
      ))}
    </button>
  );
}

function Listed({ minute: { at, events } }: { minute: Minute }) {
  const more = events.length - LISTED;
  return (
    <section aria-label="The events of the minute">
      <p className={classes.head}>
        <Clock at={new Date(at).toISOString()} unknown="" /> {counted(events.length, "event")}
      </p>
      <ol className={changes.list}>
        {events.slice(0, LISTED).map((event) => (
          <li key={event.id}>
            <span className={changes.at}>
              <Clock at={event.at} unknown="" />
            </span>
            <SupervisorLink id={event.supervisorId} />
            <span className={changes.what}>{describe(event.type, event.detail)}</span>
          </li>
        ))}
      </ol>
      {more > 0 && <p>{`${more} more`}</p>}
    </section>
  );
}
