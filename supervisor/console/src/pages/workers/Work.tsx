import { Foreign } from "@/components/Foreign";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TaskLink } from "@/components/TaskLink";
import { Age, Span } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import type { WorkerDetail } from "./workers";
import classes from "./workers.module.css";

type Props = { worker: WorkerDetail };

/** The active tasks of a worker. */
export function TaskTable({ worker: { tasks, taskCount } }: Props) {
  if (tasks.length === 0) {
    const isForeign = taskCount > 0;
    return (
      <p className={classes.dim}>
        {isForeign ? "Its tasks are of tables that you may not read." : "No task runs on it."}
      </p>
    );
  }
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          {["Task", "Supervisor", "Phase", "Replica", "Attempt", "Stalled", "Began"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {tasks.map((task) => (
          <tr key={task.id}>
            <td>
              <TaskLink id={task.id} />
            </td>
            <td>
              <SupervisorLink id={task.supervisorId} />
            </td>
            <td>
              {task.phase === null ? (
                <Unknown why="The worker has not reported it to this leader yet." />
              ) : (
                <Foreign>{task.phase}</Foreign>
              )}
              {task.detail !== "" && <div className={classes.dim}>{visible(task.detail)}</div>}
            </td>
            <td>{exact(task.replica)}</td>
            <td>{exact(task.attempt)}</td>
            <td>
              {task.stalledFor !== null && task.stalledFor < 1 ? (
                "no"
              ) : (
                <Span
                  millis={task.stalledFor === null ? null : task.stalledFor * 1_000}
                  unknown="The worker has not reported it to this leader yet."
                />
              )}
            </td>
            <td>
              <Age at={task.createdAt} unknown="Not known." />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The compactions that are assigned to a worker. */
export function CompactionTable({ worker: { compactions } }: Props) {
  if (compactions.length === 0) {
    return <p className={classes.dim}>No compaction runs on it.</p>;
  }
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          {["Table", "Files", "State", "Assigned"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {compactions.map((each) => (
          <tr key={each.id}>
            <td>
              <Foreign>{each.dataSource}</Foreign>
            </td>
            <td>{exact(each.inputs)}</td>
            <td>
              <Foreign>{each.failure ?? "runs"}</Foreign>
              {each.detail !== "" && <div className={classes.dim}>{visible(each.detail)}</div>}
            </td>
            <td>
              <Age at={each.assignedAt} unknown="It waits for its worker." />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
