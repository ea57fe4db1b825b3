import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { TableLink } from "@/components/TableLink";
import { Ago } from "@/components/Time";
import type { Ended } from "../data";
import classes from "../Head.module.css";

/** The answer first: that it was terminated, when, by whom and why, and what is left. */
export function EndedHead({ ended: { at, author, reason, version, table } }: { ended: Ended }) {
  return (
    <div className={classes.head}>
      <div className={classes.line}>
        <Mark tone="dim" icon="done">
          TERMINATED
        </Mark>
        <span>
          <Ago at={at} unknown="When is not known." />
          {author ? (
            <>
              {" by "}
              <Foreign>{author}</Foreign>
            </>
          ) : (
            ", nobody was asked by whom"
          )}
        </span>
        <span>version {version} of its spec was the newest</span>
      </div>
      <p className={classes.why}>
        It reads nothing any more.
        {table !== null && (
          <>
            {" Its table "}
            <TableLink name={table} />
            {" stays as it is."}
          </>
        )}
      </p>
      {reason !== null && (
        <p className={classes.more}>
          Why: <Foreign>{reason}</Foreign>
        </p>
      )}
    </div>
  );
}
