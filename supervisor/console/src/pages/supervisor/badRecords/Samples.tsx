import type { Got } from "@/api/client";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { QueryView } from "@/components/QueryView";
import { Age } from "@/components/Time";
import { type Column, DataTable } from "@/components/table/DataTable";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import split from "../split.module.css";
import classes from "./BadRecords.module.css";

const PATH = "/druid/indexer/v1/supervisor/{supervisor_id}/parseErrors";

type Sample = Got<typeof PATH>[number];

/** The newest records that became no row, also of ranges that still read, whatever is kept. */
export function Samples({ id, policy }: { id: string; policy: string | null }) {
  const query = useApi(PATH, { path: { supervisor_id: id } }, POLL_MS);
  return (
    <QueryView query={query} lines={6}>
      {(samples) => (
        <div className={split.split}>
          <DataTable
            name="bad-samples"
            label="Samples of bad records"
            columns={COLUMNS}
            rows={samples}
            rowId={({ topic, partition, offset }) => `${topic}:${partition}:${offset}`}
            total={samples.length}
            empty={
              <p>
                No bad records in its live and its last ranges
                {policy === null ? "." : `: ${policy}.`}
              </p>
            }
          />
        </div>
      )}
    </QueryView>
  );
}

const COLUMNS: readonly Column<Sample>[] = [
  {
    id: "partition",
    header: "Partition",
    meta: { width: "minmax(90px, 0.8fr)" },
    cell: ({ row: { original } }) => <Foreign>{`${original.topic}:${original.partition}`}</Foreign>,
  },
  {
    id: "offset",
    header: "Offset",
    meta: { width: "minmax(80px, 0.6fr)", align: "right", isFixed: true },
    cell: ({ row: { original } }) => exact(original.offset),
  },
  {
    id: "seen",
    header: "Seen",
    meta: { width: "66px", align: "right" },
    cell: ({ row: { original } }) => (
      <Age at={new Date(original.timeOfExceptionMillis).toISOString()} unknown="" />
    ),
  },
  {
    id: "type",
    header: "Kind",
    meta: { width: "minmax(110px, 0.9fr)" },
    cell: ({ row: { original } }) => (
      <Mark tone="risk" icon="risk">
        {visible(original.errorType)}
      </Mark>
    ),
  },
  {
    id: "details",
    header: "Details",
    meta: { width: "minmax(140px, 2fr)" },
    cell: ({ row: { original } }) => {
      const text = visible(original.details.join("; "));
      return <span title={text}>{text}</span>;
    },
  },
  {
    id: "input",
    header: "Value",
    meta: { width: "minmax(140px, 2fr)" },
    cell: ({ row: { original } }) => <bdi className={classes.mono}>{visible(original.input)}</bdi>,
  },
];
