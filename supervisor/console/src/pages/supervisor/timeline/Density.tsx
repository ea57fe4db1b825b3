import classes from "./Chart.module.css";
import { minutesOf } from "./density";
import type { Lane } from "./lanes";
import { placeOf, type Stretch } from "./scale";

const MINUTE_MS = 60_000;

type Props = { lane: Lane; stretches: readonly Stretch[]; now: number; height: number };

/** How many ranges of a lane ended in each minute, where they are too many to be drawn. */
export function Density({ lane, stretches, now, height }: Props) {
  const ranges = lane.placed.map(({ range }) => range);
  const minutes = minutesOf(ranges, now);
  const most = Math.max(1, ...minutes.map((minute) => minute.ranges));
  const bar = (at: number, number: number) => {
    const x = placeOf(stretches, at);
    const width = Math.max(placeOf(stretches, at + MINUTE_MS) - x, 1);
    const size = (number / most) * (height - 4);
    return `M${x.toFixed(1)} ${height}h${width.toFixed(1)}v-${size.toFixed(1)}h-${width.toFixed(1)}z`;
  };
  return (
    <>
      <path
        className={classes.density}
        d={minutes.map(({ at, ranges: number }) => bar(at, number)).join("")}
      />
      <path
        className={classes.failures}
        d={minutes.map(({ at, failed }) => (failed > 0 ? bar(at, failed) : "")).join("")}
      />
    </>
  );
}
