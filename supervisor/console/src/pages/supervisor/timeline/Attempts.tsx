import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { TaskLink } from "@/components/TaskLink";
import { Clock } from "@/components/Time";
import { visible } from "@/text/visible";
import type { Attempt } from "./phases";
import classes from "./Timeline.module.css";

/** The tasks of a range: which attempt of which replica, where, and how it ended. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0) {
    return <p className={classes.words}>No task has begun to read it.</p>;
  }
  return (
    <table className={classes.list}>
      <caption>Attempts</caption>
      <thead>
        <tr>
          <th scope="col">Replica</th>
          <th scope="col">Worker</th>
          <th scope="col">State</th>
          <th scope="col" data-align="right">
            Ran
          </th>
        </tr>
      </thead>
      {attempts.map(({ taskId, replica, attempt, status, reason, workerId, ...times }) => (
        <tbody key={taskId}>
          <tr data-joined="true">
            <td>
              {replica}, attempt {attempt}
            </td>
            <td>
              <Foreign>{workerId}</Foreign>
            </td>
            <td>
              <Status status={status} />
            </td>
            <td data-align="right">
              <Clock at={times.startedAt} unknown="" />
              {" – "}
              <Clock at={times.endedAt} unknown="It has not ended." />
            </td>
          </tr>
          <tr>
            <td colSpan={4}>
              <TaskLink id={taskId} /> ·{" "}
              <Link to="/tasks/$task/log" params={{ task: taskId }}>
                log
              </Link>
              {reason !== "" && <div className={classes.dim}>{visible(reason)}</div>}
            </td>
          </tr>
        </tbody>
      ))}
    </table>
  );
}

function Status({ status }: { status: Attempt["status"] }) {
  switch (status) {
    case "RUNNING":
      return (
        <Mark tone="note" icon="waiting">
          running
        </Mark>
      );
    case "SUCCESS":
      return (
        <Mark tone="good" icon="done">
          success
        </Mark>
      );
    case "FAILED":
      return (
        <Mark tone="broken" icon="broken">
          failed
        </Mark>
      );
    default:
      return (
        <Mark tone="note" icon="note">
          {visible(status)}
        </Mark>
      );
  }
}
