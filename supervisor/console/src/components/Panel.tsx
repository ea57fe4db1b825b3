import { type ReactNode, useId } from "react";
import { Boundary } from "./Boundary";
import classes from "./Panel.module.css";

type Props = {
  title: string;
  /** Words or controls at the right of the title. */
  aside?: ReactNode;
  children: ReactNode;
};

/** A titled part of a page. */
export function Panel({ title, aside, children }: Props) {
  const id = useId();
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <header className={classes.head}>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      <div className={classes.body}>
        <Boundary>{children}</Boundary>
      </div>
    </section>
  );
}
