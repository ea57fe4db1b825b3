import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { missing, useMe } from "@/api/me";
import { Page } from "@/components/Page";
import classes from "./AuditFrame.module.css";

type Props = {
  title: string;
  sentence: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** The frame of both views; who may not read them sees what is missing in their place. */
export function AuditFrame({ title, sentence, actions, children }: Props) {
  const lack = useLack();
  return (
    <Page title={title} heading="Audit" sentence={sentence} actions={actions} fills>
      <nav className={classes.tabs} aria-label="Views of the audit log">
        <Link
          to="/audit"
          activeOptions={{ exact: true, includeSearch: false }}
          className={classes.tab}
        >
          Changes
        </Link>
        <Link to="/audit/denied" className={classes.tab}>
          Denied tries
        </Link>
      </nav>
      {lack === null ? children : <p role="status">{`You may not read the audit log. ${lack}`}</p>}
    </Page>
  );
}

/** What is missing to read the audit log; null: nothing. */
export function useLack(): string | null {
  return missing(useMe(), "audit", null);
}
