import { useMemo } from "react";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { known } from "@/text/known";
import { visible } from "@/text/visible";
import classes from "./Graph.module.css";
import { type Box, type Line, type Point, pictureOf } from "./layout";
import { lookOf } from "./looks";
import type { Branch } from "./plan";

/** What has become of a step; `note`: how many of its task runs are done, if it has several. */
export type Standing = { state: string; note: string; run: string };

type Props = {
  graphs: readonly Branch[];
  /** Name of a step -> what has become of it; a step that is not there has not begun. */
  standings?: Readonly<Record<string, Standing>>;
  onOpen?: (run: string) => void;
};

const ARROW = 5;

/** The steps of a flow as a graph, from left to right. */
export function Graph({ graphs, standings, onOpen }: Props) {
  const picture = useMemo(() => pictureOf(graphs), [graphs]);
  const { width, height } = picture;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys have to reach it
    <section className={classes.scroller} tabIndex={0} aria-label="Graph of the steps">
      <div className={classes.picture} style={{ width, height }}>
        <svg
          className={classes.lines}
          width={width}
          height={height}
          aria-hidden="true"
          focusable="false"
        >
          {picture.lines.map((line) => (
            <Arrow key={line.key} line={line} />
          ))}
        </svg>
        {picture.titles.map(({ key, text, x, y }) => (
          <span key={key} className={classes.title} style={{ left: x, top: y }}>
            {visible(text)}
          </span>
        ))}
        {picture.boxes.map((box) => (
          <StepBox
            key={box.step.name}
            box={box}
            standing={standings && known(standings, box.step.name)}
            isOfExecution={standings !== undefined}
            {...(onOpen === undefined ? {} : { onOpen })}
          />
        ))}
      </div>
    </section>
  );
}

function Arrow({ line: { points } }: { line: Line }) {
  const [x, y] = points.at(-1) ?? [0, 0];
  return (
    <>
      <path d={pathOf(points)} />
      <polygon points={`${x},${y} ${x - ARROW},${y - ARROW} ${x - ARROW},${y + ARROW}`} />
    </>
  );
}

/** Curves between columns, and straight lines beside the steps of a column. */
function pathOf(points: readonly Point[]): string {
  const last = points.length - 1;
  return points
    .map(([x, y], n) => {
      const [from, before] = points[n - 1] ?? [x, y];
      if (n === 0) {
        return `M${x} ${y}`;
      }
      if (n % 2 === 0) {
        return `L${x} ${y}`;
      }
      const to = n === last ? x - ARROW : x;
      const middle = (from + to) / 2;
      return `C${middle} ${before} ${middle} ${y} ${to} ${y}`;
    })
    .join("");
}

type BoxProps = {
  box: Box;
  standing: Standing | undefined;
  isOfExecution: boolean;
  onOpen?: (run: string) => void;
};

function StepBox({ box, standing, isOfExecution, onOpen }: BoxProps) {
  const { step, x, y, width, height, isGroup } = box;
  const look = standing === undefined ? undefined : lookOf(standing.state);
  const frame = {
    className: classes.box,
    style: { left: x, top: y, width, height },
    "data-group": isGroup,
    "data-tone": look?.tone,
  };
  const inner = (
    <>
      <span className={classes.name} title={visible(step.name)}>
        <Foreign>{step.name}</Foreign>
      </span>
      <span className={classes.state}>
        {standing === undefined || look === undefined ? (
          `${visible(step.type)}${isOfExecution ? " · not begun" : ""}`
        ) : (
          <>
            <Mark {...look}>{standing.state}</Mark>
            {standing.note}
          </>
        )}
      </span>
    </>
  );
  return standing === undefined || onOpen === undefined ? (
    <div {...frame}>{inner}</div>
  ) : (
    <button type="button" {...frame} onClick={() => onOpen(standing.run)}>
      {inner}
    </button>
  );
}
