import { Tooltip, VisuallyHidden } from "@mantine/core";
import { UNKNOWN } from "@/text/numbers";
import classes from "./Unknown.module.css";

/** What is not known: a dash with the reason; never 0, and never an empty cell. */
export function Unknown({ why }: { why: string }) {
  return (
    <Tooltip label={why}>
      <span className={classes.dash}>
        <span aria-hidden="true">{UNKNOWN}</span>
        <VisuallyHidden>{why}</VisuallyHidden>
      </span>
    </Tooltip>
  );
}
