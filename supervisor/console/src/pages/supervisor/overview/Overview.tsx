import { POLL_MS } from "@/api/query";
import { QueryView } from "@/components/QueryView";
import { useRow, useStatus, useSupervisorId } from "../data";
import { SupervisorFigures } from "./Figures";
import { Groups } from "./Groups";
import { LagPanel } from "./LagPanel";
import { Operations } from "./Operations";
import classes from "./Overview.module.css";
import { Siblings } from "./Siblings";
import { Errors, Warnings } from "./Troubles";

/** How the supervisor is going: numbers, lag over time, groups, troubles, changes that run. */
export function Overview() {
  const id = useSupervisorId();
  const row = useRow(id, POLL_MS);
  const status = useStatus(id);
  return (
    <QueryView query={status} lines={8}>
      {({ payload }) => (
        <div className={classes.overview}>
          <SupervisorFigures status={payload} row={row} />
          <Warnings texts={payload.warnings} />
          <div className={classes.columns}>
            <LagPanel id={id} />
            <Groups status={payload} />
          </div>
          <div className={classes.columns}>
            <Errors errors={payload.recentErrors} />
            <Operations id={id} />
          </div>
          <Siblings id={id} table={payload.dataSource} />
        </div>
      )}
    </QueryView>
  );
}
