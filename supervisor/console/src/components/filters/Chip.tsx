import type { ReactNode } from "react";
import classes from "./Filters.module.css";

type Props = {
  isOn: boolean;
  onClick: () => void;
  /** How many fit, such as "3" or "200+". */
  number?: string | undefined;
  children: ReactNode;
};

/** A filter that is on or off. */
export function Chip({ isOn, onClick, number, children }: Props) {
  return (
    <button type="button" className={classes.chip} aria-pressed={isOn} onClick={onClick}>
      {children}
      {number !== undefined && <span className={classes.number}> {number}</span>}
    </button>
  );
}
