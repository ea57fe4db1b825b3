import { Link } from "@tanstack/react-router";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Age } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import { Silence, SlotBar, StandMark } from "./parts";
import { Verbs } from "./Verbs";
import type { Worker } from "./workers";
import classes from "./workers.module.css";

/** The name of this table among the preferences. */
export const NAME = "workers";

export const COLUMNS: readonly Column<Worker>[] = [
  {
    id: "id",
    header: "Worker",
    meta: { width: "minmax(120px, 1.2fr)", isFixed: true },
    cell: ({ row: { original } }) => (
      <Link to="/workers/$id" params={{ id: original.id }}>
        <Foreign>{original.id}</Foreign>
      </Link>
    ),
  },
  {
    id: "state",
    header: "State",
    meta: { width: "96px", isFixed: true },
    cell: ({ row }) => <StandMark worker={row.original} />,
  },
  {
    id: "silent",
    header: "Silent",
    meta: { width: "72px", align: "right" },
    cell: ({ row }) => <Silence worker={row.original} />,
  },
  {
    id: "slots",
    header: "Slots used",
    meta: { width: "150px" },
    cell: ({ row }) => <SlotBar slots={row.original.slots} />,
  },
  {
    id: "tasks",
    header: "Tasks",
    meta: { width: "60px", align: "right" },
    cell: ({ row }) => <Count value={row.original.taskCount} unknown="The rows do not say it." />,
  },
  {
    id: "version",
    header: "Release",
    meta: { width: "90px" },
    cell: ({ row: { original } }) =>
      original.version === null ? (
        <Unknown why="It has not said: it is silent, or of an earlier release." />
      ) : (
        <Foreign>{original.version}</Foreign>
      ),
  },
  {
    id: "started",
    header: "Up for",
    meta: { width: "72px", align: "right" },
    cell: ({ row: { original } }) => (
      <Age at={original.startedAt} unknown="It has not said when it began." />
    ),
  },
  {
    id: "before",
    header: "Ended before",
    meta: { width: "minmax(110px, 1.2fr)" },
    cell: ({ row: { original } }) => <Before text={original.previousEnd} />,
  },
  {
    id: "host",
    header: "Address",
    meta: { width: "minmax(110px, 1fr)", isExtra: true },
    cell: ({ row }) => <Foreign>{row.original.host}</Foreign>,
  },
  {
    id: "verbs",
    header: "Actions",
    meta: { width: "112px", isFixed: true },
    cell: ({ row }) => <Verbs worker={row.original} isSmall />,
  },
];

/** How its process before this one ended. */
export function Before({ text }: { text: string }) {
  return text === "" ? (
    <Unknown why="It is its first, or how the one before ended is not known." />
  ) : (
    <span className={classes.dim} title={visible(text)}>
      <Foreign>{text}</Foreign>
    </span>
  );
}
