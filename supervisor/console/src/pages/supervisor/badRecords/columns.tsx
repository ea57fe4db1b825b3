import { Link } from "@tanstack/react-router";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Age } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import classes from "./BadRecords.module.css";
import { lineOf, type Part } from "./bytes";
import { type BadRecord, nameOf } from "./quarantine";

/** The name of this table among the preferences. */
export const NAME = "bad-records";
const EPOCH = 0;
const LINE_MAX = 400;

export const COLUMNS: readonly Column<BadRecord>[] = [
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
    cell: ({ row: { original } }) => (
      <Link to="." search={(before) => ({ ...before, record: nameOf(original) })}>
        {exact(original.offset)}
      </Link>
    ),
  },
  {
    id: "time",
    header: "Time",
    meta: { width: "66px", align: "right" },
    cell: ({ row: { original } }) => <SentAt at={original.time} />,
  },
  {
    id: "reason",
    header: "Reason",
    meta: { width: "minmax(120px, 0.9fr)" },
    cell: ({ row: { original } }) => (
      <Mark tone="risk" icon="risk">
        {visible(original.reason)}
      </Mark>
    ),
  },
  {
    id: "key",
    header: "Key",
    meta: { width: "minmax(80px, 0.7fr)" },
    cell: ({ row: { original } }) => (
      <OneLine part={{ text: original.key, base64: original.keyBase64 }} none="It has no key." />
    ),
  },
  {
    id: "value",
    header: "Value",
    meta: { width: "minmax(160px, 3fr)" },
    cell: ({ row: { original } }) => (
      <OneLine
        part={{ text: original.value, base64: original.valueBase64 }}
        none="It has no value."
      />
    ),
  },
  {
    id: "headers",
    header: "Headers",
    meta: { width: "70px", align: "right", isExtra: true },
    cell: ({ row: { original } }) => <Count value={original.headers.length} unknown="" />,
  },
  {
    id: "size",
    header: "Bytes",
    meta: { width: "70px", align: "right" },
    cell: ({ row: { original } }) => <Count value={original.valueBytes} unknown="" />,
  },
];

/** When a record was sent; the epoch stands for a record without a time. */
export function SentAt({ at }: { at: string }) {
  const isKnown = Date.parse(at) !== EPOCH;
  return <Age at={isKnown ? at : null} unknown="The record has no time in Kafka." />;
}

function OneLine({ part, none }: { part: Part; none: string }) {
  const line = lineOf(part);
  if (line === null) {
    return <Unknown why={none} />;
  }
  return line === "" ? (
    <span className={classes.dim}>empty</span>
  ) : (
    <bdi className={classes.mono}>{line.slice(0, LINE_MAX)}</bdi>
  );
}
