import { Foreign } from "@/components/Foreign";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TableLink } from "@/components/TableLink";
import { Age, Stamp } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import type { TerminatedRow } from "./rows";

/** The name of this table among the preferences. */
export const NAME = "terminated-supervisors";

export const COLUMNS: readonly Column<TerminatedRow>[] = [
  {
    id: "id",
    header: "Supervisor",
    meta: { width: "minmax(130px, 1.4fr)", isFixed: true },
    cell: ({ row }) => <SupervisorLink id={row.original.id} />,
  },
  {
    id: "age",
    header: "Ended",
    meta: { width: "90px", align: "right" },
    cell: ({ row: { original } }) => (
      <Age at={original.terminatedAt} unknown="When is not known." />
    ),
  },
  {
    id: "at",
    header: "Terminated",
    meta: { width: "170px" },
    cell: ({ row: { original } }) => (
      <Stamp at={original.terminatedAt} unknown="When is not known." />
    ),
  },
  {
    id: "by",
    header: "By",
    meta: { width: "minmax(90px, 0.8fr)" },
    cell: ({ row: { original } }) =>
      original.terminatedBy === "" ? (
        <Unknown why="Nobody was asked who it is." />
      ) : (
        <Foreign>{original.terminatedBy}</Foreign>
      ),
  },
  {
    id: "reason",
    header: "Reason",
    meta: { width: "minmax(140px, 2fr)" },
    cell: ({ row: { original } }) =>
      original.reason === null ? (
        <Unknown why="No reason was given." />
      ) : (
        <Foreign>{original.reason}</Foreign>
      ),
  },
  {
    id: "table",
    header: "Table",
    meta: { width: "minmax(90px, 1fr)" },
    cell: ({ row: { original } }) =>
      original.dataSource === null ? (
        <Unknown why="This release cannot read its spec." />
      ) : (
        <TableLink name={original.dataSource} />
      ),
  },
  {
    id: "version",
    header: "Last version",
    meta: { width: "96px", align: "right" },
    cell: ({ row: { original } }) => `v${original.version}`,
  },
];
