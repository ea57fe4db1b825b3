import type { AttentionItem } from "@/api/overview";
import { Remedies } from "@/components/remedy/Remedies";
import { Age } from "@/components/Time";
import { visible } from "@/text/visible";
import type { ListedRow } from "./rows";
import classes from "./Trouble.module.css";

type Props = { row: ListedRow; attention: readonly AttentionItem[] };

/** The line below an unhealthy supervisor: why, and the steps that may help. */
export function Trouble({ row, attention }: Props) {
  const item = attention.find(
    ({ kind, about, supervisors }) =>
      (kind === "supervisor-unhealthy" && about.id === row.id) ||
      (kind === "stream-silent" && supervisors.includes(row.id)),
  );
  const why = row.why || row.lastError?.message || "Its state has no reason on record.";
  return (
    <div className={classes.trouble}>
      <span className={classes.since}>
        <Age at={row.since} unknown="Since when is not on record yet." />
      </span>
      <span className={classes.why} title={visible(why)}>
        {visible(why)}
      </span>
      <Remedies remedies={item?.remedies ?? []} table={row.dataSource} supervisor={row.id} />
    </div>
  );
}
