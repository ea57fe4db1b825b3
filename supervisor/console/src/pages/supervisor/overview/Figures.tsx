import type { ReactNode } from "react";
import { Count } from "@/components/Count";
import { Age, Due, Span } from "@/components/Time";
import { exact } from "@/text/numbers";
import type { ListedRow, Status } from "../data";
import classes from "./Figures.module.css";

type Props = { status: Status; row: ListedRow | null | undefined };

/** The few numbers of one supervisor that show how it goes. */
export function Figures({ status, row }: Props) {
  const { rejected, aggregateLag, aggregateLagMillis, slotsNeeded, slotsFree } = status;
  return (
    <dl className={classes.figures}>
      <Figure name="Lag" note={trendOf(row)}>
        <Count value={aggregateLag} unknown="No look at Kafka yet." />
      </Figure>
      <Figure name="Oldest unread" note="age of the record">
        <Span
          millis={aggregateLagMillis}
          unknown={aggregateLag === 0 ? "Nothing is unread." : "No age is known yet."}
        />
      </Figure>
      <Figure name="Rows a second" note="over the last minute">
        <Count
          value={row?.rowsPerSecond}
          unknown="Its ranges are younger than 10 s, or were not heard of yet."
        />
      </Figure>
      <Figure
        name="Bad records"
        note={`${exact(rejected.live)} in ranges that still read`}
        isBad={rejected.live > 0}
      >
        <Count value={rejected.published + rejected.live} unknown="Not counted yet." />
      </Figure>
      <Figure
        name="Published"
        note={
          <>
            next <Due at={row?.nextPublishDue} unknown="No range of it reads now." />
          </>
        }
      >
        <Age at={row?.lastPublishedAt} unknown="Nothing is published yet." />
      </Figure>
      <Figure
        name="Replicas waiting"
        note={`${exact(slotsNeeded)} slots needed, ${exact(slotsFree)} free`}
        isBad={status.pendingReplicas > 0}
      >
        <Count value={status.pendingReplicas} unknown="Not known yet." />
      </Figure>
    </dl>
  );
}

type FigureProps = { name: string; note: ReactNode; isBad?: boolean; children: ReactNode };

function Figure({ name, note, isBad = false, children }: FigureProps) {
  return (
    <div className={classes.figure} data-bad={isBad}>
      <dt>{name}</dt>
      <dd className={classes.value}>{children}</dd>
      <dd className={classes.note}>{note}</dd>
    </div>
  );
}

function trendOf(row: ListedRow | null | undefined): string {
  const trend = row?.trend;
  return trend ? `unread records, ${trend}` : "unread records";
}
