import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Problem } from "@/api/problem";
import { Page } from "@/components/Page";
import { visible } from "@/text/visible";
import classes from "./LogsFrame.module.css";
import { hasNoStore, useNothingStored } from "./rows";

type Props = {
  title: string;
  sentence: ReactNode;
  actions?: ReactNode;
  /** Why the list is not there; what the overview knows comes before. */
  error: Problem | null;
  children: ReactNode;
};

/** The frame of both views; where nothing is stored it says how that changes in their place. */
export function LogsFrame({ title, sentence, actions, error, children }: Props) {
  const known = useNothingStored();
  const why = known ?? (error !== null && hasNoStore(error) ? error.detail : null);
  return (
    <Page title={title} heading="Logs and reports" sentence={sentence} actions={actions} fills>
      <nav className={classes.tabs} aria-label="Views of logs and reports">
        <Link
          to="/logs"
          activeOptions={{ exact: true, includeSearch: false }}
          className={classes.tab}
        >
          Warnings and errors
        </Link>
        <Link to="/logs/reports" className={classes.tab}>
          Reports
        </Link>
      </nav>
      {why === null ? children : <p role="status">{`Nothing can be searched: ${visible(why)}.`}</p>}
    </Page>
  );
}
