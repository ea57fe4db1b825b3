import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { type Overview, useOverview } from "@/api/overview";
import { POLL_MS } from "@/api/query";
import { Command } from "@/components/Command";
import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { Age } from "@/components/Time";
import { counted } from "@/text/numbers";
import { span } from "@/text/times";
import classes from "./Persisters.module.css";

type Reports = NonNullable<Overview["reports"]>;

/** How far stored reports and logs are; nothing where no persister is configured. */
export function Persisters() {
  const reports = useOverview(POLL_MS).data?.reports;
  if (reports === undefined || reports === null) {
    return null;
  }
  const lines = linesOf(reports);
  return (
    <Panel title="Stored reports and logs">
      <dl className={classes.facts}>
        {lines.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </Panel>
  );
}

function linesOf(reports: Reports): [string, ReactNode][] {
  const { deadLetters, lost, persisters } = reports;
  const lines: [string, ReactNode][] = persisters.map((each) => [
    each.url,
    <PersisterLine key={each.url} persister={each} />,
  ]);
  lines.push(["Behind", behindOf(reports)]);
  if (deadLetters !== null && deadLetters > 0) {
    lines.push([
      "Dead letters",
      <>
        <Link to="/logs/dead-letters">{`${counted(deadLetters, "record")} could not be stored`}</Link>
        {" · "}
        <Command text="tidegate reports dead list" />
      </>,
    ]);
  }
  if (lost > 0) {
    lines.push(["Lost", `${counted(lost, "record")}, deleted by the retention of the topics`]);
  }
  return lines;
}

function PersisterLine({ persister }: { persister: Reports["persisters"][number] }) {
  const { url, state, since, reason, stored } = persister;
  const words = state === null ? "does not answer" : state.toLowerCase().replaceAll("_", " ");
  return (
    <>
      {words} for <Age at={since} unknown="Since when is not known." />
      {stored !== null && ` · ${counted(stored, "record")} stored since its start`}
      {reason !== "" && (
        <>
          {" · "}
          <Foreign>{reason}</Foreign>
        </>
      )}
      {state === "STOPPED" && (
        <>
          {" · "}
          <Command text={`tidegate reports resume --persister ${url}`} />
        </>
      )}
    </>
  );
}

function behindOf({ behindRecords, behindMillis }: Reports): string {
  if (behindRecords === null) {
    return "not known: no persister answers";
  }
  if (behindRecords === 0) {
    return "up to date";
  }
  const oldest = behindMillis === null ? "" : `, the oldest ${span(behindMillis)} old`;
  return `${counted(behindRecords, "record")}${oldest}`;
}
