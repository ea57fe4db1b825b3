import { type KeyboardEvent, type MouseEvent, useRef } from "react";
import { span } from "@/text/times";
import classes from "./Chart.module.css";
import { Density } from "./Density";
import { type Lane, nearest, neighbour } from "./lanes";
import { extentOf, type Range, waitingSince, wordOf } from "./phases";
import { RangeBars, ROW_HEIGHT } from "./RangeBars";
import { placeOf, type Stretch } from "./scale";

type Props = {
  lane: Lane;
  stretches: readonly Stretch[];
  width: number;
  now: number;
  isDense: boolean;
  active: string | undefined;
  onOpen: (id: string) => void;
  onPoint: (range: Range | null) => void;
};

const DENSE_HEIGHT = 36;
const KEYS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
};

/**
 * One group: its label and its ranges are one button.  A click opens the range that is nearest, at
 * the label the newest; the arrow keys go from range to range.
 */
export function LaneRow({ lane, stretches, width, now, isDense, active, ...props }: Props) {
  const drawing = useRef<SVGSVGElement>(null);
  const newest = lane.placed.at(-1)?.range;
  if (newest === undefined) {
    return null;
  }
  const [opened, to] = extentOf(newest, now);
  const since = waitingSince(newest);
  const from = since ?? opened;
  const height = isDense ? DENSE_HEIGHT : lane.rows * ROW_HEIGHT + 6;
  const at = ({ clientX, clientY }: MouseEvent): Range | null => {
    const box = drawing.current?.getBoundingClientRect();
    const x = box === undefined ? -1 : clientX - box.left;
    if (box === undefined || x < 0) {
      return newest;
    }
    const row = isDense ? null : Math.floor((clientY - box.top) / ROW_HEIGHT);
    return nearest(lane, row, x, (range) => {
      const [begin, end] = extentOf(range, now);
      return [placeOf(stretches, begin), placeOf(stretches, end)];
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = KEYS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      props.onOpen(neighbour(lane, active, step).id);
    }
  };
  const onClick = (event: MouseEvent) => {
    // A click by a key has no place.
    const range = event.detail === 0 ? newest : at(event);
    props.onOpen((range ?? newest).id);
  };
  return (
    <button
      type="button"
      className={classes.lane}
      aria-keyshortcuts="ArrowLeft ArrowRight Home End"
      onClick={onClick}
      onKeyDown={onKeyDown}
      onMouseMove={(event) => props.onPoint(at(event))}
      onMouseLeave={() => props.onPoint(null)}
    >
      <span className={classes.label}>
        <strong>Group {lane.group}</strong>{" "}
        <span className={classes.state}>
          {wordOf(newest)}
          {newest.endedAt === null &&
            `${since === null ? " for" : ","} ${span(Math.max(to - from, 0))}`}
        </span>
      </span>
      <svg ref={drawing} width={width} height={height} aria-hidden="true" focusable="false">
        {isDense ? (
          <Density lane={lane} stretches={stretches} now={now} height={height} />
        ) : (
          <RangeBars lane={lane} stretches={stretches} now={now} active={active} />
        )}
      </svg>
    </button>
  );
}
