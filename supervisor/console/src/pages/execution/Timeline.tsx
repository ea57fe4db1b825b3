import { useMemo } from "react";
import { usePreferences } from "@/app/preferences";
import { Foreign } from "@/components/Foreign";
import { FlowMark } from "@/components/flow/FlowMark";
import { hasEnded } from "@/components/flow/looks";
import { useNow } from "@/components/Time";
import { clock, span } from "@/text/times";
import { visible } from "@/text/visible";
import { placeOf, type Stretch, ticksOf } from "../supervisor/timeline/scale";
import { CHART_WIDTH, chartOf, type Lane, type RunBar } from "./bars";
import type { Execution } from "./data";
import classes from "./Timeline.module.css";
import type { RunRow } from "./tree";
import { BAR_WORDS, barWords } from "./words";

type Props = {
  execution: Execution;
  rows: readonly RunRow[];
  onOpen: (run: string) => void;
};

/** The most task runs that are drawn; the table of steps has all. */
const DRAWN = 150;
const KINDS = ["queue", "run", "wait", "retry", "hold"] as const;
/** A moment so near to the edge that its words would not fit. */
const EDGE = 24;

/** When each task run waited, and when it ran. */
export function Timeline({ execution, rows, onOpen }: Props) {
  const now = useNow();
  const end = hasEnded(execution.state) ? 0 : now;
  const { lanes, stretches } = useMemo(
    () => chartOf(execution, rows.slice(0, DRAWN), end),
    [execution, rows, end],
  );
  return (
    <div className={classes.chart}>
      <Legend />
      <div className={classes.lane} aria-hidden="true">
        <span />
        <Axis stretches={stretches} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys have to reach it */}
      <ul tabIndex={0} aria-label="Times of the steps">
        {lanes.map((lane) => (
          <LaneRow key={lane.row.run.id} lane={lane} stretches={stretches} onOpen={onOpen} />
        ))}
      </ul>
      {rows.length > DRAWN && (
        <p className={classes.dim}>
          {`The first ${DRAWN} of ${rows.length} task runs; the table of steps has all.`}
        </p>
      )}
    </div>
  );
}

type LaneProps = { lane: Lane; stretches: readonly Stretch[]; onOpen: (run: string) => void };

function LaneRow({ lane: { row, bars }, stretches, onOpen }: LaneProps) {
  const { run, depth, label } = row;
  return (
    <li className={classes.lane}>
      <button
        type="button"
        className={classes.label}
        style={{ paddingLeft: depth * 14 }}
        title={`${visible(label)}: ${bars.map(barWords).join("; ")}`}
        onClick={() => onOpen(run.id)}
      >
        <Foreign>{label}</Foreign> <FlowMark state={run.state} />
      </button>
      <div className={classes.track} aria-hidden="true">
        {stretches
          .filter(({ isFolded }) => isFolded)
          .map(({ from, x, width }) => (
            <span key={from} className={classes.fold} style={placed(x, width)} />
          ))}
        {bars.map((bar) => (
          <Bar key={`${bar.kind} ${bar.from}`} bar={bar} state={run.state} stretches={stretches} />
        ))}
      </div>
    </li>
  );
}

type BarProps = { bar: RunBar; state: string; stretches: readonly Stretch[] };

function Bar({ bar, state, stretches }: BarProps) {
  const x = placeOf(stretches, bar.from);
  return (
    <span
      className={classes.bar}
      data-kind={bar.kind}
      data-state={state}
      title={barWords(bar)}
      style={placed(x, placeOf(stretches, bar.to) - x)}
    />
  );
}

function Axis({ stretches }: { stretches: readonly Stretch[] }) {
  const { zone } = usePreferences();
  return (
    <div className={classes.axis}>
      {stretches
        .filter(({ isFolded }) => isFolded)
        .map(({ from, to, x, width }) => (
          <span
            key={from}
            className={classes.fold}
            style={placed(x, width)}
            title={`nothing ran for ${span(to - from)}`}
          />
        ))}
      {ticksOf(stretches)
        .map((at) => ({ at, x: placeOf(stretches, at) }))
        .filter(({ x }) => x > EDGE && x < CHART_WIDTH - EDGE)
        .map(({ at, x }) => (
          <span key={at} className={classes.tick} style={placed(x, 0)}>
            {clock(new Date(at), zone)}
          </span>
        ))}
    </div>
  );
}

function Legend() {
  return (
    <p className={classes.legend}>
      {KINDS.map((kind) => (
        <span key={kind}>
          <span className={classes.sample} data-kind={kind} aria-hidden="true" />
          {BAR_WORDS[kind]}
        </span>
      ))}
      <span>
        <span className={classes.sample} data-kind="fold" aria-hidden="true" />
        left out: nothing ran
      </span>
    </p>
  );
}

function placed(x: number, width: number) {
  return {
    left: `${(100 * x) / CHART_WIDTH}%`,
    width: `${(100 * Math.max(width, 0)) / CHART_WIDTH}%`,
  };
}
