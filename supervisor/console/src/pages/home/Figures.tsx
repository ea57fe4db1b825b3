import type { Overview } from "@/api/overview";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { AsOf, Span } from "@/components/Time";
import { exact } from "@/text/numbers";
import { statesOf } from "./answer";

/** The few numbers that show how fast all of it goes. */
export function ClusterFigures({ overview }: { overview: Overview }) {
  const { rowsPerSecond, lag, slots, supervisors } = overview;
  const isShort = slots !== null && slots.needed > slots.used + slots.free;
  return (
    <Figures>
      <Figure name="Supervisors" note={statesOf(overview)}>
        <Count value={supervisors?.total} unknown="The supervisors cannot be counted now." />
      </Figure>
      <Figure name="Rows a second" note="over the last minute">
        <Count value={rowsPerSecond} unknown="No supervisor has a rate yet." />
      </Figure>
      <Figure name="Lag" note={<AsOf at={lag?.lookedAt} />}>
        <Count value={lag?.records} unknown="No lag is known yet." />
      </Figure>
      <Figure name="Oldest unread" note="age of the record">
        <Span millis={lag?.oldestMillis} unknown="Nothing is unread, or no age is known yet." />
      </Figure>
      <Figure
        name="Slots used"
        note={slots === null ? "" : `${exact(slots.needed)} needed, ${exact(slots.free)} free`}
        isBad={isShort}
      >
        {slots === null ? (
          <Count value={null} unknown="You may read no table, or nobody knows now." />
        ) : (
          `${exact(slots.used)} of ${exact(slots.total)}`
        )}
      </Figure>
    </Figures>
  );
}
