import type { ReactNode } from "react";
import classes from "./Figures.module.css";

/** A row of the few numbers that show how something goes. */
export function Figures({ children }: { children: ReactNode }) {
  return <dl className={classes.figures}>{children}</dl>;
}

type FigureProps = {
  name: string;
  /** A few words below the number. */
  note: ReactNode;
  isBad?: boolean;
  /** Its course, below the words. */
  course?: ReactNode;
  children: ReactNode;
};

/** One number with its name. */
export function Figure({ name, note, isBad = false, course, children }: FigureProps) {
  return (
    <div className={classes.figure} data-bad={isBad}>
      <dt>{name}</dt>
      <dd>{children}</dd>
      <dd className={classes.note}>{note}</dd>
      {course !== undefined && <dd className={classes.course}>{course}</dd>}
    </div>
  );
}
