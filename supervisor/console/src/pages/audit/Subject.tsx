import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TableLink } from "@/components/TableLink";
import classes from "./columns.module.css";
import { type Entry, queueOf, supervisorOf, tableOf } from "./entries";

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
      {table === null ? <Foreign>{entry.subject}</Foreign> : <TableLink name={table} />}
      {supervisor !== null && supervisor !== table && (
        <>
          <span className={classes.dim}> of </span>
          <SupervisorLink id={supervisor} />
        </>
      )}
    </>
  );
}
