import { useStats, useTableName } from "../data";
import { CoveragePanel } from "./CoveragePanel";
import { ExportsPanel } from "./ExportsPanel";
import { Feeders } from "./Feeders";
import classes from "./Summary.module.css";
import { TotalFigures } from "./TotalFigures";

/** What the table holds, who feeds it, and whether all of it is accounted for. */
export function Summary() {
  const name = useTableName();
  const stats = useStats(name).data;
  return stats ? (
    <div className={classes.summary}>
      <TotalFigures stats={stats} />
      <Feeders name={name} />
      <div className={classes.columns}>
        <CoveragePanel stats={stats} />
        <ExportsPanel stats={stats} />
      </div>
    </div>
  ) : null;
}
