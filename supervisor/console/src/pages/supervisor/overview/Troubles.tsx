import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Panel } from "@/components/Panel";
import { TaskLink } from "@/components/TaskLink";
import { Age } from "@/components/Time";
import { WorkerLink } from "@/components/WorkerLink";
import { visible } from "@/text/visible";
import type { Status } from "../data";
import classes from "./Overview.module.css";

/** What the overlord warns of; nothing where there is none. */
export function Warnings({ texts }: { texts: readonly string[] }) {
  return texts.length === 0 ? null : (
    <Panel title="Warnings">
      <ul className={classes.list}>
        {texts.map((text) => (
          <li key={text}>
            <Mark tone="risk" icon="risk">
              to know
            </Mark>
            <span>{visible(text)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What went wrong lately, newest first. */
export function Errors({ errors }: { errors: Status["recentErrors"] }) {
  const newest = [...errors].sort((one, other) => (one.timestamp < other.timestamp ? 1 : -1));
  return (
    <Panel title="Recent errors">
      {newest.length === 0 ? (
        <p className={classes.dim}>Nothing went wrong lately.</p>
      ) : (
        <ul className={classes.list}>
          {newest.map(({ timestamp, message, taskId, workerId, exceptionClass }) => (
            <li key={`${timestamp} ${taskId ?? ""} ${message}`}>
              <span className={classes.dim}>
                <Age at={timestamp} unknown="When it was is not known." />
              </span>
              <span>
                {visible(message || exceptionClass)}
                {taskId && (
                  <div className={classes.dim}>
                    <Link to="/tasks/$task/log" params={{ task: taskId }}>
                      log of <Foreign>{taskId}</Foreign>
                    </Link>
                    {workerId && (
                      <>
                        {" on worker "}
                        <WorkerLink id={workerId} />
                      </>
                    )}
                    {" · "}
                    <TaskLink id={taskId} words="its attempts" />
                  </div>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
