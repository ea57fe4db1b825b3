import { useElementSize } from "@mantine/hooks";
import { useState } from "react";
import { usePreferences } from "@/app/preferences";
import { clock, span } from "@/text/times";
import { visible } from "@/text/visible";
import { Axis } from "./Axis";
import classes from "./Chart.module.css";
import { DENSE_FROM } from "./density";
import { Key, Patterns } from "./Key";
import { LaneRow } from "./LaneRow";
import { lanesOf } from "./lanes";
import type { ChangeMark } from "./marks";
import { extentOf, type Range, wordOf } from "./phases";
import { busyOf, type Span, stretchesOf } from "./scale";

type Props = {
  ranges: readonly Range[];
  marks: readonly ChangeMark[];
  window: Span;
  active: string | undefined;
  onOpen: (id: string) => void;
};

/** A lane per group over one axis of time; long idle times are folded. */
export function Chart({ ranges, marks, window, active, onOpen }: Props) {
  const { ref, width } = useElementSize();
  const [pointed, setPointed] = useState<Range | null>(null);
  const now = window[1];
  const extents = ranges.map((range) => extentOf(range, now));
  const stretches = stretchesOf(busyOf(extents, window), window, Math.max(width, 1));
  const isDense = ranges.length > DENSE_FROM;
  return (
    <div className={classes.chart}>
      <Patterns />
      <div className={classes.row}>
        <span />
        <div ref={ref} className={classes.axis}>
          <Axis stretches={stretches} marks={marks} width={width} />
        </div>
      </div>
      {lanesOf(ranges, now).map((lane) => (
        <LaneRow
          key={lane.group}
          lane={lane}
          stretches={stretches}
          width={width}
          now={now}
          isDense={isDense}
          active={active}
          onOpen={onOpen}
          onPoint={setPointed}
        />
      ))}
      <div className={classes.foot}>
        <Key isDense={isDense} />
        <Pointed range={pointed} now={now} />
      </div>
    </div>
  );
}

/** The range under the pointer, in words; the panel and the table have the same and more. */
function Pointed({ range, now }: { range: Range | null; now: number }) {
  const { zone } = usePreferences();
  if (range === null) {
    return <p className={classes.pointed}>Choose a range to see its steps.</p>;
  }
  const [from, to] = extentOf(range, now);
  const begin = clock(new Date(from), zone);
  return (
    <p className={classes.pointed} aria-hidden="true">
      group {range.group}, {visible(range.id)}: {wordOf(range)}, from {begin} for {span(to - from)}
    </p>
  );
}
