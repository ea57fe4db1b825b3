import { TaskLink } from "@/components/TaskLink";
import { TaskMark } from "@/components/TaskMark";
import { Age } from "@/components/Time";
import { WorkerLink } from "@/components/WorkerLink";
import { exact } from "@/text/numbers";
import { span } from "@/text/times";
import { visible } from "@/text/visible";
import type { Range } from "../data";
import classes from "./Summary.module.css";

type Attempt = Range["attempts"][number];

/** All tasks of a range, by replica and attempt; the page's own is marked. */
export function Attempts({ attempts, id }: { attempts: readonly Attempt[]; id: string }) {
  if (attempts.length === 0) {
    return <p>No attempt is on record any more.</p>;
  }
  return (
    <table className={classes.table} aria-label="Attempts">
      <thead>
        <tr>
          <th scope="col">Replica, attempt</th>
          <th scope="col">Status</th>
          <th scope="col">Worker</th>
          <th scope="col">Began</th>
          <th scope="col">Took</th>
        </tr>
      </thead>
      <tbody>
        {attempts.map((attempt) => (
          <tr key={attempt.taskId} data-this={attempt.taskId === id}>
            <td>
              {`${exact(attempt.replica)}, ${exact(attempt.attempt)} `}
              {attempt.taskId === id ? (
                <span className={classes.dim}>this one</span>
              ) : (
                <TaskLink id={attempt.taskId} />
              )}
              {attempt.status === "FAILED" && (
                <div className={classes.bad}>{visible(attempt.reason)}</div>
              )}
            </td>
            <td>
              <TaskMark status={attempt.status} />
            </td>
            <td data-name="true">
              <WorkerLink id={attempt.workerId} />
            </td>
            <td>
              <Age at={attempt.startedAt} unknown="" />
            </td>
            <td>{tookOf(attempt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function tookOf({ startedAt, endedAt }: Attempt): string {
  return endedAt === null ? "runs" : span(Date.parse(endedAt) - Date.parse(startedAt));
}
