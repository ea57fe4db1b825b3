import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TaskMark } from "@/components/TaskMark";
import { Age, Clock } from "@/components/Time";
import { WorkerLink } from "@/components/WorkerLink";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { isActive, isSubmitted, type Task, useFacts } from "./data";
import classes from "./Head.module.css";
import { endingOf, readingOf } from "./words";

/** The answer first: what the task reads, where, since when, and how and why it ended. */
export function Head({ task }: { task: Task }) {
  const facts = useFacts(task.id);
  const { status, runnerStatusCode, createdTime, supervisorId, generationId, workerId } = task;
  return (
    <div className={classes.head}>
      <div className={classes.line}>
        <TaskMark status={status} runner={runnerStatusCode} />
        <span>
          began <Clock at={createdTime} unknown="" /> (<Age at={createdTime} unknown="" />)
        </span>
        <span>
          supervisor <SupervisorLink id={supervisorId} />
        </span>
        {!isSubmitted(task) && (
          <>
            <span>
              range{" "}
              <Link
                to="/tasks"
                search={{ state: "all", generation: generationId }}
                title="All tasks of the range"
              >
                <Foreign>{generationId}</Foreign>
              </Link>
              {`, replica ${exact(task.replica)}, attempt ${exact(task.attempt)}`}
            </span>
            <span>
              worker <WorkerLink id={workerId} />
            </span>
          </>
        )}
        <span>
          table <Foreign>{task.dataSource}</Foreign>
        </span>
      </div>
      <p className={classes.why} data-bad={status === "FAILED"}>
        {facts && `It ${isActive(task) ? "reads" : "read"} ${visible(readingOf(facts))}. `}
        {isSubmitted(task) &&
          "It was submitted as a task: the supervisor of the same name reads it. "}
        {visible(endingOf(task))}
      </p>
    </div>
  );
}
