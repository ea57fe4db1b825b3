import { Link } from "@tanstack/react-router";
import { Panel } from "@/components/Panel";
import classes from "./executors.module.css";

/** Says that there is nothing to own, and what would change that. */
export function NoExecutors() {
  return (
    <Panel title="Nothing to own">
      <div className={classes.ways}>
        <p>
          Flows run in the database: the overlord that leads works each{" "}
          <Link to="/executions" className={classes.inText}>
            execution
          </Link>{" "}
          by itself. There are no executors, no partitions and no dead inputs.
        </p>
        <p className={classes.dim}>
          Once one machine is too small for the calls of your steps, let executors run them on
          Kafka: <code>TIDEGATE_EXECUTIONS_KAFKA</code> of the overlords and of{" "}
          <code>tidegate executor</code>.
        </p>
      </div>
    </Panel>
  );
}
