import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Age, AsOf, Due, Span } from "@/components/Time";
import { counted, exact } from "@/text/numbers";
import type { ListedRow, Status } from "../data";

type Props = { status: Status; row: ListedRow | null | undefined };

/** The few numbers of one supervisor that show how it goes. */
export function SupervisorFigures({ status, row }: Props) {
  const { rejected, slotsNeeded, slotsFree } = status;
  return (
    <Figures>
      <Figure name="Lag" note={<AsOf at={row?.lagAt} words={trendOf(row)} />}>
        <Count value={row?.lagRecords} unknown="No look at Kafka yet." />
      </Figure>
      <Figure name="Oldest unread" note="age of the record">
        <Span
          millis={row?.lagMillis}
          unknown={row?.lagRecords === 0 ? "Nothing is unread." : "No age is known yet."}
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
        note={`${counted(slotsNeeded, "slot")} needed, ${exact(slotsFree)} free`}
        isBad={status.pendingReplicas > 0}
      >
        <Count value={status.pendingReplicas} unknown="Not known yet." />
      </Figure>
    </Figures>
  );
}

function trendOf(row: ListedRow | null | undefined): string {
  const trend = row?.trend;
  return trend ? `unread records, ${trend}` : "unread records";
}
