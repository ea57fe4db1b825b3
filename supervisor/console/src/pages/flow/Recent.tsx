import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { FlowMark } from "@/components/flow/FlowMark";
import { ExecutionLink } from "@/components/flow/links";
import { Took } from "@/components/flow/Took";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Age } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { NOT_BEGUN } from "../executions/columns";
import { useExecutions } from "../executions/data";
import classes from "./flow.module.css";

const SHOWN = 10;

/** The newest executions of a flow. */
export function Recent({ flow }: { flow: string }) {
  const query = useExecutions({ flow }, 0, SHOWN);
  return (
    <Panel
      title="Newest executions"
      aside={
        <Link to="/executions" search={{ flow }}>
          all of them
        </Link>
      }
    >
      <QueryView query={query} lines={3}>
        {({ executions }) =>
          executions.length === 0 ? (
            <p className={classes.dim}>It has not run yet: start it.</p>
          ) : (
            <table className={classes.inputs} aria-label="Newest executions">
              <thead>
                <tr>
                  <th scope="col">Execution</th>
                  <th scope="col">State</th>
                  <th scope="col">Started</th>
                  <th scope="col">Took</th>
                  <th scope="col">Error</th>
                </tr>
              </thead>
              <tbody>
                {executions.slice(0, SHOWN).map((each) => (
                  <tr key={each.id}>
                    <td>
                      <ExecutionLink id={each.id} />
                    </td>
                    <td>
                      <FlowMark state={each.state} />
                    </td>
                    <td>
                      <Age at={each.createdAt} unknown="When is not known." />
                    </td>
                    <td>
                      <Took from={each.beganAt} to={each.endedAt} unknown={NOT_BEGUN} />
                    </td>
                    <td>
                      {each.error === "" ? (
                        <Unknown why="No step of it failed for good." />
                      ) : (
                        <Foreign>{each.error}</Foreign>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </QueryView>
    </Panel>
  );
}
