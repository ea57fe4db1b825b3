import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import type { Overview } from "@/api/overview";
import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { Lasting } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { counted, exact } from "@/text/numbers";
import { span } from "@/text/times";
import { waitWords } from "@/text/waits";
import classes from "./ClusterFacts.module.css";

/** Leader, database, workers, queues, exports: one line each, in words. */
export function ClusterFacts({ overview }: { overview: Overview }) {
  const lines: [string, ReactNode][] = [
    ["Leader", leaderOf(overview)],
    ["Database", databaseOf(overview)],
    ["Workers", workersOf(overview)],
    ["Queues", queuesOf(overview)],
    ["Exports", exportsOf(overview)],
    ...reportsOf(overview),
    ["Operations", operationsOf(overview)],
  ];
  return (
    <Panel title="Cluster">
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

const UNSEEN = "You may read no table, or nobody knows it now.";

function leaderOf({ leader }: Overview): ReactNode {
  if (leader === null) {
    return "none leads now";
  }
  return (
    <>
      <Foreign>{leader.url}</Foreign> · term {leader.term} ·{" "}
      <Lasting at={leader.since} unknown="Since when it leads is not known." />
    </>
  );
}

function databaseOf({ database }: Overview): string {
  const { ok, millis } = database;
  return ok ? `answers${millis === null ? "" : ` in ${span(millis)}`}` : "does not answer";
}

function workersOf({ workers }: Overview): ReactNode {
  if (workers === null) {
    return <Unknown why={UNSEEN} />;
  }
  const { alive, silent, lost } = workers;
  return alive + silent + lost === 0 ? (
    <>
      none is connected: start one by <code>tidegate worker</code>
    </>
  ) : (
    joined(
      `${exact(alive)} alive`,
      silent > 0 && `${exact(silent)} silent`,
      lost > 0 && `${exact(lost)} lost`,
    )
  );
}

function queuesOf({ queues }: Overview): ReactNode {
  if (queues === null) {
    return <Unknown why={UNSEEN} />;
  }
  const { dead, failed, waiting, oldestMillis } = queues;
  return joined(
    dead > 0 ? `${exact(dead)} dead` : "none is dead",
    failed > 0 && `${counted(failed, "event")} set aside`,
    waitWords(waiting, oldestMillis, dead),
  );
}

function exportsOf({ exports }: Overview): ReactNode {
  if (exports === null) {
    return <Unknown why={UNSEEN} />;
  }
  const { total, behind, stuck } = exports;
  return total === 0
    ? "none is switched on"
    : joined(
        `${exact(total)} on`,
        behind > 0 && `${exact(behind)} behind`,
        stuck > 0 && `${exact(stuck)} stuck`,
      );
}

/** One line where a persister is configured; else none. */
function reportsOf({ reports }: Overview): [string, ReactNode][] {
  if (reports === null) {
    return [];
  }
  const { behindRecords, behindMillis, deadLetters, persisters } = reports;
  const bad = persisters.filter(({ state }) => state !== "RUNNING");
  const behind =
    behindRecords === null
      ? "no persister answers"
      : behindRecords === 0
        ? "up to date"
        : `${counted(behindRecords, "record")} behind${
            behindMillis === null ? "" : `, oldest ${span(behindMillis)}`
          }`;
  const line = joined(
    behind,
    bad.length > 0 &&
      `${exact(bad.length)} of ${counted(persisters.length, "persister")} not running`,
  );
  const letters = deadLetters !== null && deadLetters > 0 && (
    <>
      {" · "}
      <Link to="/logs/dead-letters">{counted(deadLetters, "dead letter")}</Link>
    </>
  );
  return [
    [
      "Reports",
      <>
        {line}
        {letters}
      </>,
    ],
  ];
}

function operationsOf({ operations }: Overview): ReactNode {
  if (operations === null) {
    return <Unknown why="Nobody knows it now." />;
  }
  return operations === 0 ? "none runs" : `${counted(operations, "operation")} running`;
}

function joined(...parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join(" · ");
}
