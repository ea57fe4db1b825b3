import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { TableLink } from "@/components/TableLink";
import { Stamp } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import type { Ended } from "../data";
import { Operations } from "../overview/Operations";
import overview from "../overview/Overview.module.css";
import { KEPT } from "../Tabs";
import classes from "./EndedTab.module.css";

type Props = {
  id: string;
  ended: Ended;
  /** The last part of the address. */
  tab: string;
  /** The tab as it is of any supervisor. */
  children: ReactNode;
};

/** A tab of a supervisor that is terminated: what is kept of it, or why there is nothing. */
export function EndedTab({ id, ended, tab, children }: Props) {
  if (tab === "overview") {
    return (
      <div className={overview.overview}>
        <div className={overview.columns}>
          <Panel title="What is left of it">
            <Left id={id} ended={ended} />
          </Panel>
          <Operations id={id} />
        </div>
      </div>
    );
  }
  return KEPT.has(tab) ? (
    children
  ) : (
    <p className={classes.note} role="status">
      It is terminated, so there is nothing to show here.{" "}
      <Link to="/supervisors/$id/history" params={{ id }}>
        Its history
      </Link>{" "}
      has all versions of its spec.
    </p>
  );
}

function Left({
  id,
  ended: { at, author, reason, version, table },
}: Omit<Props, "tab" | "children">) {
  return (
    <dl className={classes.facts}>
      <dt>Terminated</dt>
      <dd>
        <Stamp at={at} unknown="When is not known." />
        {author && (
          <>
            {" by "}
            <Foreign>{author}</Foreign>
          </>
        )}
      </dd>
      <dt>Reason</dt>
      <dd>
        {reason === null ? <Unknown why="No reason was given." /> : <Foreign>{reason}</Foreign>}
      </dd>
      <dt>Table</dt>
      <dd>
        {table === null ? (
          <Unknown why="This release cannot read its spec." />
        ) : (
          <>
            <TableLink name={table} />
            {", with all that it published"}
          </>
        )}
      </dd>
      <dt>Versions</dt>
      <dd>
        <Link to="/supervisors/$id/history" params={{ id }}>
          {`${version + 1}, the last of which ends it`}
        </Link>
      </dd>
      <dt>Ranges</dt>
      <dd>
        <Link to="/supervisors/$id/timeline" params={{ id }}>
          its timeline
        </Link>
      </dd>
      <dt>Offsets</dt>
      <dd>Its committed offsets are kept until it is forgotten: brought back, it goes on there.</dd>
    </dl>
  );
}
