import type { Measure } from "../search";
import classes from "./Bar.module.css";
import type { Parts } from "./shape";

type Props = {
  parts: Parts;
  /** Whether marks below the bar say what of its files it cannot show itself. */
  hasMarks: boolean;
  hasSmall: boolean;
  hasUnused: boolean;
  id: string;
};

/** One bar: plain at the bottom, small files hatched, files that were taken out grey on top. */
export function Bar({ parts, hasMarks, hasSmall, hasUnused, id }: Props) {
  const { plain, small, unused } = parts;
  return (
    <>
      <svg className={classes.bar} aria-hidden="true" focusable="false">
        <rect
          className={classes.plain}
          y={percent(1 - plain)}
          width="100%"
          height={percent(plain)}
        />
        <rect
          fill={`url(#${id})`}
          y={percent(1 - plain - small)}
          width="100%"
          height={percent(small)}
        />
        <rect
          className={classes.unused}
          y={percent(1 - plain - small - unused)}
          width="100%"
          height={percent(unused)}
        />
      </svg>
      {hasMarks && (
        <svg className={classes.mark} aria-hidden="true" focusable="false">
          {hasSmall && <rect fill={`url(#${id})`} width="100%" height="5" />}
          {hasUnused && <rect className={classes.unused} y="6" width="100%" height="3" />}
        </svg>
      )}
    </>
  );
}

function percent(share: number): string {
  return `${(Math.max(share, 0) * 100).toFixed(2)}%`;
}

/** The pattern of small files; bars refer to it by its id. */
export function Hatching({ id }: { id: string }) {
  return (
    <svg className={classes.defs} aria-hidden="true" focusable="false">
      <defs>
        <pattern
          id={id}
          width="5"
          height="5"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect className={classes.ground} width="5" height="5" />
          <rect className={classes.stripe} width="2.5" height="5" />
        </pattern>
      </defs>
    </svg>
  );
}

/** Says what colours and patterns are. */
export function ChartKey({ id, measure }: { id: string; measure: Measure }) {
  return (
    <span className={classes.key}>
      <Hatching id={id} />
      <span>
        <svg className={classes.sample} aria-hidden="true" focusable="false">
          <rect className={classes.plain} width="100%" height="100%" />
        </svg>
        {measure === "files" ? "files" : measure === "rows" ? "rows" : "bytes"}
      </span>
      <span>
        <svg className={classes.sample} aria-hidden="true" focusable="false">
          <rect fill={`url(#${id})`} width="100%" height="100%" />
        </svg>
        {measure === "files" ? "small ones" : "below: it has small files"}
      </span>
      <span>
        <svg className={classes.sample} aria-hidden="true" focusable="false">
          <rect className={classes.unused} width="100%" height="100%" />
        </svg>
        {measure === "files" ? "taken out" : "below: files were taken out"}
      </span>
    </span>
  );
}
