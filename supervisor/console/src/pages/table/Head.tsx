import { SupervisorLink } from "@/components/SupervisorLink";
import { Age } from "@/components/Time";
import { counted, exact, short } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import type { TableStats } from "../tables/rows";
import classes from "./Head.module.css";

const NAMED = 3;

/** The answer first: what the table holds, how fresh it is, who feeds it. */
export function Head({ stats }: { stats: TableStats }) {
  const { rows, files, unusedFiles, supervisors, lastPublishedAt } = stats;
  return (
    <div className={classes.line}>
      <span>
        {files === 0 ? "no rows" : `${short(rows)} ${rows === 1 ? "row" : "rows"}`} ·{" "}
        {bytes(stats.bytes)} · {counted(files, "file")}
        {unusedFiles > 0 && ` · ${exact(unusedFiles)} taken out`}
      </span>
      {lastPublishedAt !== null && (
        <span>
          last published <Age at={lastPublishedAt} unknown="" />
          {" ago"}
        </span>
      )}
      <span>
        {supervisors.length === 0
          ? "no supervisor feeds it"
          : supervisors.length > NAMED
            ? `fed by ${counted(supervisors.length, "supervisor")}`
            : "fed by "}
        {supervisors.length <= NAMED &&
          supervisors.map((id, index) => (
            <span key={id}>
              {index > 0 && ", "}
              <SupervisorLink id={id} />
            </span>
          ))}
      </span>
    </div>
  );
}
