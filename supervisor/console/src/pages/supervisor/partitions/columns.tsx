import { Tooltip } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Span } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { exact, short } from "@/text/numbers";
import { span } from "@/text/times";
import { visible } from "@/text/visible";
import { furthest } from "./bar";
import classes from "./columns.module.css";
import { OffsetBar } from "./OffsetBar";
import { behind, nameOf, type PartitionRow, restOf } from "./rows";

/** The name of this table among the preferences. */
export const NAME = "partitions";

/** The reason for a member that is null, in the overlord's words. */
function why({ unknown }: PartitionRow, name: string): string {
  return visible(unknown[name] ?? "It is not known now.");
}

export const COLUMNS: readonly Column<PartitionRow>[] = [
  {
    id: "partition",
    header: "Partition",
    meta: { width: "minmax(90px, 0.8fr)", sort: "partition", isFixed: true },
    cell: ({ row: { original } }) => (
      <Link
        from="/supervisors/$id/partitions"
        to="."
        search={(before) => ({ ...before, open: nameOf(original) })}
        replace
      >
        <span className={classes.dim}>
          <Foreign>{`${original.topic}:`}</Foreign>
        </span>
        {original.partition}
      </Link>
    ),
  },
  {
    id: "group",
    header: "Group",
    meta: { width: "58px", align: "right" },
    cell: ({ row: { original } }) =>
      original.group === null ? <Unknown why={why(original, "group")} /> : original.group,
  },
  {
    id: "earliest",
    header: "Earliest",
    meta: { width: "minmax(84px, 0.7fr)", align: "right" },
    cell: ({ row: { original } }) => <Offset row={original} name="earliest" />,
  },
  {
    id: "bar",
    header: "Retained log",
    meta: { width: "minmax(140px, 2.4fr)", isFixed: true },
    cell: ({ row: { original } }) => (
      <OffsetBar
        offsets={{ ...original, reading: furthest(original.tasks.map(({ position }) => position)) }}
        unknown={why(original, original.earliest === null ? "earliest" : "latest")}
      />
    ),
  },
  {
    id: "latest",
    header: "Latest",
    meta: { width: "minmax(84px, 0.7fr)", align: "right" },
    cell: ({ row: { original } }) => <Offset row={original} name="latest" />,
  },
  {
    id: "committed",
    header: "Committed",
    meta: { width: "minmax(84px, 0.7fr)", align: "right" },
    cell: ({ row: { original } }) => <Offset row={original} name="committed" />,
  },
  {
    id: "lag",
    header: "Lag",
    meta: { width: "76px", align: "right", sort: "lagRecords" },
    cell: ({ row: { original } }) => (
      <Count value={original.lagRecords} unknown={why(original, "lagRecords")} />
    ),
  },
  {
    id: "oldest",
    header: "Oldest",
    meta: { width: "84px", align: "right", sort: "lagMillis" },
    cell: ({ row: { original } }) => (
      <Span
        millis={original.lagMillis}
        unknown={original.lagRecords === 0 ? "Nothing is unread." : why(original, "lagMillis")}
      />
    ),
  },
  {
    id: "headroom",
    header: "Headroom",
    meta: {
      width: "96px",
      align: "right",
      sort: "headroomMillis",
      title:
        "How long until Kafka deletes records that are not published yet; while that is not known: " +
        "how many older records (rec.) it deletes before them.",
    },
    cell: ({ row: { original } }) => <Headroom row={original} />,
  },
  {
    id: "replicas",
    header: "Replicas",
    meta: {
      width: "minmax(120px, 1.1fr)",
      title: "The workers whose tasks read it; −814: this one has still 814 records to read.",
    },
    cell: ({ row: { original } }) => <Replicas row={original} />,
  },
  {
    id: "trouble",
    header: "Trouble",
    meta: { width: "minmax(90px, 1fr)" },
    cell: ({
      row: {
        original: { trouble },
      },
    }) =>
      trouble === null ? (
        <span className={classes.dim}>none</span>
      ) : (
        <Tooltip label={visible(trouble.text)}>
          <span>
            <Mark tone="broken" icon="broken">
              {trouble.code}
            </Mark>
          </span>
        </Tooltip>
      ),
  },
];

/** An offset with each of its digits. */
function Offset({ row, name }: { row: PartitionRow; name: "earliest" | "latest" | "committed" }) {
  const offset = row[name];
  return offset === null ? <Unknown why={why(row, name)} /> : <span>{exact(offset)}</span>;
}

/** The time until Kafka deletes what is unread, else the records until then. */
function Headroom({ row }: { row: PartitionRow }) {
  const { headroomMillis, headroomRecords } = row;
  if (headroomMillis !== null) {
    return <span className={row.atRisk ? classes.risk : ""}>{span(headroomMillis)}</span>;
  }
  return headroomRecords === null ? (
    <Unknown why={why(row, "headroomRecords")} />
  ) : (
    <Tooltip
      label={`${exact(headroomRecords)} records lie before what is unread: ${why(row, "headroomMillis")}`}
    >
      <span>{`${short(headroomRecords)} rec.`}</span>
    </Tooltip>
  );
}

function Replicas({ row: { tasks } }: { row: PartitionRow }) {
  if (tasks.length === 0) {
    return <span className={classes.dim}>none</span>;
  }
  return (
    <span>
      {tasks.map(({ id, workerId, position, lag }) => (
        <Tooltip
          key={id}
          label={`${visible(id)} at ${position === null ? "an unknown offset" : exact(position)}${restOf(lag)}`}
        >
          <span>
            <Foreign>{workerId}</Foreign> <span className={classes.dim}>{behind(lag)}</span>
          </span>
        </Tooltip>
      ))}
    </span>
  );
}
