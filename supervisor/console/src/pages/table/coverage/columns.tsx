import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Clock } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { known } from "@/text/known";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { CoverageBar } from "./CoverageBar";
import classes from "./columns.module.css";
import { type Kind, type ListedPartition, type ListedRun, WORDS } from "./shape";

/** The names of these tables among the preferences. */
export const PARTITIONS = "coverage";
export const RUNS = "coverage-runs";

export const PARTITION_COLUMNS: readonly Column<ListedPartition>[] = [
  {
    id: "supervisor",
    header: "Supervisor",
    meta: { width: "minmax(100px, 0.8fr)" },
    cell: ({ row }) => <SupervisorLink id={row.original.supervisor} />,
  },
  {
    id: "partition",
    header: "Partition",
    meta: { width: "minmax(90px, 0.8fr)", isFixed: true },
    cell: ({ row: { original } }) => <Foreign>{`${original.topic}:${original.partition}`}</Foreign>,
  },
  {
    id: "bar",
    header: "What became of its offsets",
    meta: { width: "minmax(200px, 3fr)", isFixed: true },
    cell: ({ row }) => <CoverageBar partition={row.original} />,
  },
  counted("committed", "Committed", 96),
  counted("published", "Published", 96),
  counted("lost", "Lost", 70),
  counted("skipped", "Skipped", 76),
  counted("repeated", "Read again", 88),
  counted("publishing", "Publishing", 86, true),
  counted("reading", "Reading", 80, true),
  {
    id: "recreated",
    header: "Topic anew",
    meta: { width: "minmax(86px, 0.5fr)", isExtra: true },
    cell: ({ row }) => (
      <Clock at={row.original.recreatedAt} unknown="The topic was never taken up as a new one." />
    ),
  },
];

function counted(
  kind: Exclude<Kind, "unexplained" | "recreated"> | "committed",
  header: string,
  width: number,
  isExtra = false,
): Column<ListedPartition> {
  return {
    id: kind,
    header,
    meta: { width: `${width}px`, align: "right", ...(isExtra ? { isExtra } : {}) },
    cell: ({ row }) => <Count value={row.original.counts[kind]} unknown="" />,
  };
}

export const RUN_COLUMNS: readonly Column<ListedRun>[] = [
  {
    id: "supervisor",
    header: "Supervisor",
    meta: { width: "minmax(120px, 1fr)", isFixed: true },
    cell: ({ row }) => <SupervisorLink id={row.original.supervisor} />,
  },
  {
    id: "partition",
    header: "Partition",
    meta: { width: "minmax(120px, 1fr)", isFixed: true },
    cell: ({ row }) => <Foreign>{row.original.partition}</Foreign>,
  },
  {
    id: "kind",
    header: "What became of them",
    meta: { width: "minmax(170px, 1fr)", isFixed: true },
    cell: ({ row: { original } }) => (
      <span className={classes.kind} data-kind={original.kind}>
        {visible(known(WORDS, original.kind) ?? original.kind)}
      </span>
    ),
  },
  {
    id: "from",
    header: "From offset",
    meta: { width: "minmax(110px, 1fr)", align: "right", isFixed: true },
    cell: ({ row }) => exact(row.original.from),
  },
  {
    id: "to",
    header: "Before offset",
    meta: { width: "minmax(110px, 1fr)", align: "right", isFixed: true },
    cell: ({ row }) => exact(row.original.to),
  },
  {
    id: "offsets",
    header: "Offsets",
    meta: { width: "minmax(90px, 1fr)", align: "right", isFixed: true },
    cell: ({ row: { original } }) => exact(BigInt(original.to) - BigInt(original.from)),
  },
  ofLedger("rows", "Rows"),
  ofLedger("rejected", "Bad records"),
  ofLedger("generations", "Ranges"),
];

/** A column of what the ledger has of a run. */
function ofLedger(member: "rows" | "rejected" | "generations", header: string): Column<ListedRun> {
  return {
    id: member,
    header,
    meta: { width: "minmax(90px, 1fr)", align: "right" },
    cell: ({ row: { original } }) => (
      <Count
        value={original[member]}
        unknown="The ledger does not know it of these offsets alone."
      />
    ),
  };
}
