import { useParams } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Foreign } from "@/components/Foreign";
import { Page } from "@/components/Page";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Age, Span } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { exact } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import { Before } from "./columns";
import { Silence, SlotBar, StandMark } from "./parts";
import { Verbs } from "./Verbs";
import { CompactionTable, TaskTable } from "./Work";
import type { WorkerDetail } from "./workers";
import classes from "./workers.module.css";

const SILENT = "It has not said: it is silent, or of an earlier release.";

/** One worker: how it is doing, its Spark, and what runs on it. */
export function WorkerPage() {
  const { id } = useParams({ from: "/shell/workers/$id" });
  const query = useApi("/api/v1/workers/{worker}", { path: { worker: id } }, POLL_MS);
  const worker = query.data;
  return (
    <Page
      title={visible(id)}
      actions={worker && <Verbs worker={worker} />}
      sentence={worker && <Sentence worker={worker} />}
    >
      <QueryView query={query} lines={8}>
        {(found) => (
          <div className={classes.page}>
            <Numbers worker={found} />
            <Panel title="Tasks">
              <TaskTable worker={found} />
            </Panel>
            <div className={classes.columns}>
              <Facts worker={found} />
              <Panel title="Compactions">
                <CompactionTable worker={found} />
              </Panel>
            </div>
          </div>
        )}
      </QueryView>
    </Page>
  );
}

function Sentence({ worker }: { worker: WorkerDetail }) {
  return (
    <div className={classes.line}>
      <StandMark worker={worker} />
      <span>
        last heard <Silence worker={worker} /> ago
      </span>
      {worker.disabled && <span>it finishes what it has, and gets nothing new</span>}
      {worker.stopping && <span>it is about to end</span>}
    </div>
  );
}

function Numbers({ worker }: { worker: WorkerDetail }) {
  const { slots, taskCount, compactions, samples, uptime, memory } = worker;
  const most = memory?.heapMaxBytes ?? null;
  return (
    <Figures>
      <Figure name="Slots used" note={`${exact(freeOf(slots))} free`}>
        {`${exact(slots.used)} of ${exact(slots.total)}`}
      </Figure>
      <Figure name="Tasks" note="those that end hold no slot">
        <Count value={taskCount} unknown="The rows do not say it." />
      </Figure>
      <Figure name="Compactions" note={`${exact(samples)} samples of topics`}>
        <Count value={compactions.length} unknown="The rows do not say it." />
      </Figure>
      <Figure name="Up for" note="its present process">
        <Span
          millis={uptime === null ? null : uptime * 1_000}
          unknown="When it began is not known."
        />
      </Figure>
      <Figure
        name="Memory of its JVM"
        note={most === null ? "heap, code and buffers" : `its heap: ${bytes(most)} at most`}
      >
        {memory?.residentBytes ? bytes(memory.residentBytes) : <Unknown why={SILENT} />}
      </Figure>
    </Figures>
  );
}

function freeOf({ total, used }: WorkerDetail["slots"]): bigint {
  const free = BigInt(total) - BigInt(used);
  return free > 0n ? free : 0n;
}

function Facts({ worker }: { worker: WorkerDetail }) {
  const lines: [string, ReactNode][] = [
    ["Slots", <SlotBar key="slots" slots={worker.slots} />],
    ["Address", <Foreign key="host">{worker.host}</Foreign>],
    ["Release", textOf(worker.version)],
    ["Spark master", textOf(worker.sparkMaster)],
    ["Incarnation", exact(worker.incarnation)],
    ["Ended before", <Before key="before" text={worker.previousEnd} />],
    ["Began", <Age key="began" at={worker.startedAt} unknown={SILENT} />],
    ["Registered", <Age key="registered" at={worker.registeredAt} unknown="Not known." />],
  ];
  return (
    <Panel title="Process">
      <dl className={classes.facts}>
        {lines.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </Panel>
  );
}

function textOf(text: string | null): ReactNode {
  return text === null ? <Unknown why={SILENT} /> : <Foreign>{text}</Foreign>;
}
