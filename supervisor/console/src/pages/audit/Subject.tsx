import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { ExecutionLink, FlowLink } from "@/components/flow/links";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TableLink } from "@/components/TableLink";
import { TaskLink } from "@/components/TaskLink";
import { WorkerLink } from "@/components/WorkerLink";
import classes from "./columns.module.css";
import { type Entry, pageOf, queueOf, supervisorOf, tableOf } from "./entries";

/** What an entry is about, with the way there. */
export function Subject({ entry }: { entry: Entry }) {
  const supervisor = supervisorOf(entry);
  const queue = queueOf(entry);
  const table = tableOf(entry);
  if (supervisor === entry.subject && table === null) {
    return <SupervisorLink id={supervisor} />;
  }
  if (queue !== null) {
    return (
      <Link to="/queues/$container/$name" params={queue}>
        <Foreign>{entry.subject}</Foreign>
      </Link>
    );
  }
  return (
    <>
      {table === null ? <OnItsPage entry={entry} /> : <TableLink name={table} />}
      {supervisor !== null && supervisor !== table && (
        <>
          <span className={classes.dim}> of </span>
          <SupervisorLink id={supervisor} />
        </>
      )}
    </>
  );
}

function OnItsPage({ entry }: { entry: Entry }) {
  switch (pageOf(entry)) {
    case "flow":
      return <FlowLink flow={entry.subject} />;
    case "execution":
      return <ExecutionLink id={entry.subject} />;
    case "worker":
      return <WorkerLink id={entry.subject} />;
    case "task":
      return <TaskLink id={entry.subject} />;
    default:
      return <Foreign>{entry.subject}</Foreign>;
  }
}
