import { memo } from "react";
import classes from "./Sparkline.module.css";
import { polygonOf, type Sample } from "./spark";

type Props = {
  samples: readonly Sample[];
  begin: number;
  end: number;
  stepMs: number;
};

/** The course of a figure as an area: one element, without a chart's cost.  A number says it all. */
export const Sparkline = memo(function Sparkline({ samples, ...box }: Props) {
  const clipPath = polygonOf(samples, box);
  return clipPath === null ? null : (
    <span className={classes.spark} style={{ clipPath }} aria-hidden="true" />
  );
});
