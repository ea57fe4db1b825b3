import { Panel } from "@/components/Panel";
import { Due, useNow } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import type { Status } from "../data";
import classes from "./Groups.module.css";
import { progressOf, replicasOf, waitOf } from "./progress";

const PUBLISHES_NOW = "It publishes now, or at no set time.";
const NOT_READ = "No task reads it: when it publishes is not known.";

/** The live ranges by group: phase, how far in time, replicas. */
export function Groups({ status }: { status: Status }) {
  const now = useNow();
  const { groups, activeTasks, publishingTasks, suspended, slotsNeeded } = status;
  const tasks = [...activeTasks, ...publishingTasks];
  const sorted = [...groups].sort((one, other) => one.group - other.group);
  return (
    <Panel title="Groups">
      {sorted.length === 0 ? (
        <p className={classes.dim}>
          {suspended ? "No group reads: the supervisor is suspended." : "No group reads now."}
        </p>
      ) : (
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">Group</th>
              <th scope="col">Phase</th>
              <th scope="col">Publishes</th>
              <th scope="col">Replicas</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((group) => {
              const wait = waitOf(group, tasks, slotsNeeded);
              const progress = wait === null ? progressOf(group, now) : null;
              const replicas = replicasOf(group.generationId, tasks);
              return (
                <tr key={group.generationId}>
                  <td>{group.group}</td>
                  <td>
                    {wait === null ? (
                      group.state.toLowerCase()
                    ) : (
                      <span className={classes.waiting}>{wait}</span>
                    )}
                    {group.handoffWhy !== "" && (
                      <div className={classes.dim}>{visible(group.handoffWhy)}</div>
                    )}
                  </td>
                  <td>
                    {wait === null ? (
                      <Due at={group.nextPublishDue} unknown={PUBLISHES_NOW} />
                    ) : (
                      <Unknown why={NOT_READ} />
                    )}
                    {progress !== null && <Bar share={progress} />}
                  </td>
                  <td>
                    {replicas === "" ? <span className={classes.dim}>none yet</span> : replicas}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** The due time beside it has the same in words. */
function Bar({ share }: { share: number }) {
  return (
    <svg className={classes.bar} aria-hidden="true" focusable="false">
      <rect width={`${(share * 100).toFixed(1)}%`} height="100%" rx="3" />
    </svg>
  );
}
