import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { SupervisorLink } from "@/components/SupervisorLink";
import {
  isSubmitted,
  type Task,
  useCounted,
  useFacts,
  useRange,
  useTask,
  useTaskId,
} from "../data";
import type { Facts } from "../facts";
import { Attempts } from "./Attempts";
import { Offsets } from "./Offsets";
import { RangeFacts } from "./RangeFacts";
import classes from "./Summary.module.css";
import { TaskFigures } from "./TaskFigures";

/** What the task has read, where it is in its range, and the other attempts at the same range. */
export function Summary() {
  const query = useTask(useTaskId());
  return (
    <QueryView query={query} lines={8}>
      {({ status }) =>
        isSubmitted(status) ? <Submitted task={status} /> : <Reading task={status} />
      }
    </QueryView>
  );
}

function Submitted({ task }: { task: Task }) {
  return (
    <Panel title="A submitted task">
      <p>
        It is read by tasks of its own: <SupervisorLink id={task.supervisorId} />
      </p>
    </Panel>
  );
}

function Reading({ task }: { task: Task }) {
  const facts = useFacts(task.id);
  const counted = useCounted(task);
  return (
    <div className={classes.summary}>
      <TaskFigures task={task} counted={counted} />
      {facts === null && <p>The payload of the task names no range.</p>}
      {facts && (
        <div className={classes.columns}>
          <Offsets task={task} facts={facts} counted={counted} />
          <OfRange task={task} facts={facts} />
        </div>
      )}
    </div>
  );
}

function OfRange({ task, facts }: { task: Task; facts: Facts }) {
  const query = useRange(task, facts.group);
  return (
    <div className={classes.summary}>
      <Panel title="Range">
        <QueryView query={query} lines={4}>
          {(range) =>
            range === null ? (
              <p>The range is not on record any more.</p>
            ) : (
              <RangeFacts range={range} />
            )
          }
        </QueryView>
      </Panel>
      <Panel title="Attempts at the same range">
        <QueryView query={query} lines={2}>
          {(range) => <Attempts attempts={range?.attempts ?? []} id={task.id} />}
        </QueryView>
      </Panel>
    </div>
  );
}
