import type { ReactNode } from "react";
import { visible } from "@/text/visible";
import classes from "./RecordFacts.module.css";

/** What is known of a record that was set aside: names (`dt`) and values (`dd`). */
export function RecordFacts({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

/** What such a record carries, in a box that scrolls. */
export function RecordText({ label, children }: { label: string; children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys have to reach it
    <section className={classes.text} tabIndex={0} aria-label={label}>
      <pre>{visible(children)}</pre>
    </section>
  );
}
