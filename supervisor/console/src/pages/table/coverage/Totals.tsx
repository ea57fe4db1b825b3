import { Command } from "@/components/Command";
import { Mark } from "@/components/Mark";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TableLink } from "@/components/TableLink";
import { counted, exact } from "@/text/numbers";
import { quoted } from "@/text/shell";
import { SumLine } from "./SumLine";
import type { Coverage } from "./shape";
import classes from "./Totals.module.css";

/** Each supervisor's answer: whether all is accounted for, the sum of it, and how to prove it. */
export function Totals({ coverages, table }: { coverages: readonly Coverage[]; table: string }) {
  return (
    <ul className={classes.list}>
      {coverages.map((coverage) => (
        <li key={coverage.supervisorId} className={classes.item}>
          <div className={classes.line}>
            <VerdictMark coverage={coverage} />
            <SupervisorLink id={coverage.supervisorId} />
            <span className={classes.dim}>{rowsOf(coverage)}</span>
            {coverage.dataSource !== table && (
              <span>
                these are the offsets of <TableLink name={coverage.dataSource} />, which it feeds
              </span>
            )}
          </div>
          <SumLine counts={coverage.counts} rejected={coverage.rejected} />
          <span className={classes.prove}>
            Prove it against Kafka and the files:{" "}
            <Command text={`tidegate verify ${quoted(coverage.supervisorId)}`} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Whether all committed offsets are accounted for, and what of them was declared. */
export function VerdictMark({ coverage }: { coverage: Coverage }) {
  const { complete, counts } = coverage;
  if (!complete) {
    return (
      <Mark tone="broken" icon="broken">
        {`${exact(counts.unexplained)} unexplained`}
      </Mark>
    );
  }
  if (counts.committed === 0) {
    return (
      <Mark tone="dim" icon="waiting">
        nothing committed yet
      </Mark>
    );
  }
  const declared = [
    ...(counts.lost > 0 ? [`${exact(counts.lost)} declared lost`] : []),
    ...(counts.skipped > 0 ? [`${exact(counts.skipped)} skipped`] : []),
    ...(counts.repeated > 0 ? [`${exact(counts.repeated)} read again`] : []),
  ];
  return declared.length === 0 ? (
    <Mark tone="good" icon="done">
      complete
    </Mark>
  ) : (
    <Mark tone="risk" icon="risk">
      {`complete, ${declared.join(", ")}`}
    </Mark>
  );
}

function rowsOf({ rows, ranges }: Coverage): string {
  return `${exact(rows)} rows of ${counted(ranges, "published range")}`;
}
