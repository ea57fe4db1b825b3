import { useMemo } from "react";
import type { Overview } from "@/api/overview";
import { KEPT_MS, type Moment, STEP_MS, useTrail } from "@/api/trail";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Sparkline } from "@/components/Sparkline";
import { AsOf, Span } from "@/components/Time";
import { exact } from "@/text/numbers";
import { statesOf } from "./answer";

/** The few numbers that show how fast all of it goes. */
export function ClusterFigures({ overview }: { overview: Overview }) {
  const { rowsPerSecond, lag, slots, supervisors } = overview;
  const moments = useTrail();
  const course = (name: Exclude<keyof Moment, "at">) => <Course moments={moments} name={name} />;
  const isShort = slots !== null && slots.needed > slots.used + slots.free;
  return (
    <Figures>
      <Figure name="Supervisors" note={statesOf(overview)} course={course("supervisors")}>
        <Count value={supervisors?.total} unknown="The supervisors cannot be counted now." />
      </Figure>
      <Figure name="Rows a second" note="over the last minute" course={course("rows")}>
        <Count value={rowsPerSecond} unknown="No supervisor has a rate yet." />
      </Figure>
      <Figure name="Lag" note={<AsOf at={lag?.lookedAt} />} course={course("lag")}>
        <Count value={lag?.records} unknown="No lag is known yet." />
      </Figure>
      <Figure name="Oldest unread" note="age of the record" course={course("oldest")}>
        <Span millis={lag?.oldestMillis} unknown="Nothing is unread, or no age is known yet." />
      </Figure>
      <Figure
        name="Slots used"
        note={slots === null ? "" : `${exact(slots.needed)} needed, ${exact(slots.free)} free`}
        isBad={isShort}
        course={course("slots")}
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

type CourseProps = { moments: readonly Moment[]; name: Exclude<keyof Moment, "at"> };

/** A figure as this tab has seen it, over as much of the last hour as the tab is open. */
function Course({ moments, name }: CourseProps) {
  const samples = useMemo(
    () => moments.map((moment) => ({ at: moment.at, value: moment[name] })),
    [moments, name],
  );
  const [first, last] = [moments[0]?.at ?? 0, moments.at(-1)?.at ?? 0];
  return first === last ? null : (
    <Sparkline
      samples={samples}
      begin={Math.max(first, last - KEPT_MS)}
      end={last}
      stepMs={STEP_MS}
    />
  );
}
