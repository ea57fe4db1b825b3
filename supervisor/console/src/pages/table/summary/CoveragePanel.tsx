import { Link } from "@tanstack/react-router";
import { Panel } from "@/components/Panel";
import { ProblemNote } from "@/components/ProblemNote";
import { Shape } from "@/components/Shape";
import { SupervisorLink } from "@/components/SupervisorLink";
import { exact } from "@/text/numbers";
import type { TableStats } from "../../tables/rows";
import { ASKED_MAX, useCoverages } from "../coverage/data";
import { SumLine } from "../coverage/SumLine";
import { VerdictMark } from "../coverage/Totals";
import classes from "./Summary.module.css";

/** Whether each offset that was committed is accounted for, of each supervisor. */
export function CoveragePanel({ stats: { name, supervisors } }: { stats: TableStats }) {
  const asked = supervisors.slice(0, ASKED_MAX);
  const { all, isPending, failed } = useCoverages(asked);
  return (
    <Panel
      title="Coverage"
      aside={
        <Link to="/tables/$ds/coverage" params={{ ds: name }} search={{}}>
          by partition
        </Link>
      }
    >
      {asked.length === 0 && <p className={classes.dim}>No supervisor feeds it now.</p>}
      {isPending && all.length === 0 && <Shape lines={2} />}
      {failed.map(({ id, problem, retry }) => (
        <ProblemNote key={id} problem={problem} onRetry={retry} />
      ))}
      <ul className={classes.list}>
        {all.map((coverage) => (
          <li key={coverage.supervisorId}>
            <VerdictMark coverage={coverage} />
            <SupervisorLink id={coverage.supervisorId} />
            <span className={classes.dim}>
              <SumLine counts={coverage.counts} rejected={coverage.rejected} />
            </span>
          </li>
        ))}
      </ul>
      {supervisors.length > ASKED_MAX && (
        <p className={classes.dim}>{`and ${exact(supervisors.length - ASKED_MAX)} more`}</p>
      )}
    </Panel>
  );
}
