import { useNavigate, useSearch } from "@tanstack/react-router";
import {
  type QueueName,
  REPAIR_QUEUE,
  REPLAY_EVENTS,
  repairOf,
  replayEventsOf,
} from "@/changes/queues";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Foreign } from "@/components/Foreign";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Age } from "@/components/Time";
import { DataTable } from "@/components/table/DataTable";
import { bytes } from "@/text/sizes";
import { span } from "@/text/times";
import { visible } from "@/text/visible";
import { Latency, NOTHING_WAITS, QueueMark } from "./columns";
import classes from "./columns.module.css";
import { useFailed, useLackOn, useQueue, useQueueName } from "./data";
import { EventDialog } from "./EventDialog";
import { failedColumns, NAME } from "./failedColumns";
import { ownerOf, type Queue } from "./queues";

/** One queue: why it is in trouble, what waits, and the events that it has set aside. */
export function QueuePage() {
  const name = useQueueName();
  const query = useQueue(name);
  const lackFor = useLackOn(name.container);
  const title = `${visible(name.container)} / ${visible(name.name)}`;
  return (
    <Page title={title} sentence={<Sentence container={name.container} />} fills>
      <QueryView query={query} lines={3}>
        {(queue) => (
          <>
            <Trouble
              queue={queue}
              lack={lackFor(neededFor("post", REPAIR_QUEUE))}
              onRepair={() => openAction(repairOf(name))}
            />
            <QueueFigures queue={queue} />
          </>
        )}
      </QueryView>
      {query.data !== undefined && <SetAside name={name} total={query.data.failedEvents} />}
    </Page>
  );
}

type SetAsideProps = { name: QueueName; total: number };

/** The events that were given up, with what can be done about them. */
function SetAside({ name, total }: SetAsideProps) {
  const { event, sel } = useSearch({ from: "/shell/queues/$container/$name" });
  const navigate = useNavigate({ from: "/queues/$container/$name" });
  const failed = useFailed(name);
  const lackFor = useLackOn(name.container);
  const open = (seq: number | undefined) =>
    void navigate({ search: (before) => ({ ...before, event: seq }) });
  return (
    <>
      <div className={classes.heading}>
        <h2>Events set aside</h2>
        {total > 0 && (
          <Barred
            why={lackFor(neededFor("post", REPLAY_EVENTS))}
            onClick={() => openAction(replayEventsOf(name, total))}
          >
            Replay all…
          </Barred>
        )}
      </div>
      <QueryView query={failed} lines={6}>
        {(rows) => (
          <DataTable
            name={NAME}
            label="Events set aside"
            columns={failedColumns(name, lackFor, open)}
            rows={rows}
            rowId={({ seq }) => String(seq)}
            total={Math.max(total, rows.length)}
            active={sel}
            onActive={(id) =>
              void navigate({ search: (before) => ({ ...before, sel: id }), replace: true })
            }
            onOpen={({ seq }) => open(seq)}
            onEnd={failed.more}
            empty="No event is set aside: each was handled, or still waits."
          />
        )}
      </QueryView>
      <EventDialog queue={name} seq={event} onClose={() => open(undefined)} />
    </>
  );
}

function Sentence({ container }: { container: string }) {
  const owner = ownerOf(container);
  return owner === null ? (
    "Deferred work: each event is tried until it is done, or set aside."
  ) : (
    <>
      Deferred work of the supervisor <SupervisorLink id={owner} />: each event is tried until it is
      done, or set aside.
    </>
  );
}

type TroubleProps = { queue: Queue; lack: string | null; onRepair: () => void };

/** Why the queue is dead and where, or what holds it up; nothing where it is healthy. */
function Trouble({ queue, lack, onRepair }: TroubleProps) {
  const { state, healthy, deadSeq, deadWhy, why } = queue;
  if (healthy) {
    return null;
  }
  const isDead = state === "DEAD";
  return (
    <div className={classes.dead} data-tone={isDead ? "broken" : "risk"} role="alert">
      <p>
        {isDead ? (
          <>
            It is dead at event {String(deadSeq)}: <Foreign>{deadWhy}</Foreign>. Nothing behind it
            is handled, and nothing is added.
          </>
        ) : (
          <Foreign>{why}</Foreign>
        )}
      </p>
      {isDead && (
        <Barred why={lack} onClick={onRepair}>
          Repair…
        </Barred>
      )}
    </div>
  );
}

function stateNote({ state, deadSeq, mode }: Queue): string {
  if (state === "DEAD") {
    return `since event ${String(deadSeq)}`;
  }
  return mode === "DURABLE" ? "kept until a handler comes" : "handled in order";
}

function QueueFigures({ queue }: { queue: Queue }) {
  const { mode, oldest, failedIterations, lastError, latency } = queue;
  const limit =
    mode === "CONSUMER" ? ` of ${bytes(queue.maxOutstandingBytes)}` : ", without a limit";
  return (
    <Figures>
      <Figure name="State" note={stateNote(queue)}>
        <QueueMark queue={queue} />
      </Figure>
      <Figure name="Events that wait" note={`${bytes(queue.outstandingBytes)}${limit}`}>
        <Count value={queue.outstandingEvents} unknown="Not counted." />
      </Figure>
      <Figure
        name="Oldest"
        note={
          oldest === null
            ? "nothing waits"
            : `event ${oldest.seq}, ${visible(oldest.kind || "not decodable")} ${visible(oldest.key)}`
        }
      >
        <Age at={oldest?.enqueuedAt} unknown={NOTHING_WAITS} />
      </Figure>
      <Figure
        name="p99 until done"
        note={
          latency === null
            ? "none handled here"
            : `${span(latency.average * 1_000)} on average of ${latency.count}`
        }
      >
        <Latency queue={queue} />
      </Figure>
      <Figure
        name="Failures in a row"
        note={lastError === "" ? "at the present event" : visible(lastError)}
        isBad={failedIterations > 0}
      >
        <Count value={failedIterations} unknown="Not counted." />
      </Figure>
      <Figure
        name="Set aside"
        note={queue.failedEvents > 0 ? "replay or drop them" : "each was handled or waits"}
        isBad={queue.failedEvents > 0}
      >
        <Count value={queue.failedEvents} unknown="Not counted." />
      </Figure>
    </Figures>
  );
}
