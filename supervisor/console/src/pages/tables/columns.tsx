import { Tooltip } from "@mantine/core";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Size } from "@/components/Size";
import { TableLink } from "@/components/TableLink";
import { Age, Due } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import classes from "./columns.module.css";
import { ExportMark } from "./ExportMark";
import { meanBytes, type TableRow } from "./rows";
import { TimeSpan } from "./TimeSpan";

/** The name of this table among the preferences. */
export const NAME = "tables";
const NO_FILE = "No file of it is in use.";

export const COLUMNS: readonly Column<TableRow>[] = [
  {
    id: "name",
    header: "Table",
    meta: { width: "minmax(110px, 1.6fr)", sort: "name", isFixed: true },
    cell: ({ row }) => <TableLink name={row.original.name} />,
  },
  {
    id: "rows",
    header: "Rows",
    meta: { width: "74px", align: "right", sort: "rows" },
    cell: ({ row }) => <Count value={row.original.rows} unknown="" />,
  },
  {
    id: "bytes",
    header: "Size",
    meta: { width: "74px", align: "right", sort: "bytes" },
    cell: ({ row }) => <Size value={row.original.bytes} unknown="" />,
  },
  {
    id: "files",
    header: "Files",
    meta: { width: "60px", align: "right", sort: "files" },
    cell: ({ row }) => <Count value={row.original.files} unknown="" />,
  },
  {
    id: "small",
    header: "Small",
    meta: { width: "54px", align: "right", sort: "smallFiles" },
    cell: ({ row }) => <Count value={row.original.smallFiles} unknown="" />,
  },
  {
    id: "fileBytes",
    header: "Mean file",
    meta: { width: "78px", align: "right", sort: "fileBytes" },
    cell: ({ row }) => <Size value={meanBytes(row.original)} unknown={NO_FILE} />,
  },
  {
    id: "unused",
    header: "Taken out",
    meta: { width: "76px", align: "right", sort: "unusedFiles" },
    cell: ({ row }) => <Count value={row.original.unusedFiles} unknown="" />,
  },
  {
    id: "time",
    header: "Time of its rows",
    meta: { width: "minmax(156px, 1.3fr)", sort: "timeMax" },
    cell: ({ row: { original } }) => (
      <TimeSpan from={original.timeMin} to={original.timeMax} unknown={NO_FILE} />
    ),
  },
  {
    id: "published",
    header: "Published",
    meta: { width: "minmax(84px, 0.6fr)", sort: "lastPublishedAt" },
    cell: ({ row: { original } }) => <Published row={original} />,
  },
  {
    id: "supervisors",
    header: "Fed by",
    meta: { width: "minmax(176px, 1.6fr)", sort: "supervisors" },
    cell: ({ row: { original } }) => <Feeders row={original} />,
  },
  {
    id: "exports",
    header: "Exports",
    meta: { width: "minmax(100px, 1fr)" },
    cell: ({ row: { original } }) => <ExportStates row={original} />,
  },
];

function Published({ row }: { row: TableRow }) {
  if (row.lastPublishedAt !== null) {
    return <Age at={row.lastPublishedAt} unknown="" />;
  }
  return row.due !== null && row.files === 0 ? (
    <span className={classes.dim}>
      first <Due at={row.due} unknown="" />
    </span>
  ) : (
    <Unknown why={whyUnpublished(row)} />
  );
}

/** Why nothing was published into a table, or nobody knows when. */
export function whyUnpublished({ files, supervisors }: TableRow): string {
  if (files > 0) {
    return "Its supervisors are gone and its files are compacted: the time is not known.";
  }
  return supervisors.length === 0
    ? "No supervisor feeds it, and none of its files is in use."
    : "Nothing is published yet: no range of its supervisors reads now.";
}

function Feeders({ row: { supervisors, broken } }: { row: TableRow }) {
  const [first] = supervisors;
  if (first === undefined) {
    return <span className={classes.dim}>none</span>;
  }
  const all = visible(supervisors.join(", "));
  return broken.length === 0 ? (
    <Tooltip label={all}>
      <span>
        {supervisors.length === 1 ? (
          <Foreign>{first}</Foreign>
        ) : (
          counted(supervisors.length, "supervisor")
        )}
      </span>
    </Tooltip>
  ) : (
    <Tooltip label={`Broken: ${visible(broken.join(", "))}`}>
      <span className={classes.states}>
        <Mark tone="broken" icon="broken">
          {brokenOf(broken)}
        </Mark>
      </span>
    </Tooltip>
  );
}

/** Which of its supervisors is broken, or how many are: a column has room for few words. */
export function brokenOf(broken: readonly string[]): string {
  const [only] = broken;
  return broken.length === 1 && only !== undefined
    ? `broken: ${visible(only)}`
    : `${counted(broken.length, "supervisor")} broken`;
}

function ExportStates({ row: { states, exports } }: { row: TableRow }) {
  if (exports.length === 0) {
    return <span className={classes.dim}>none</span>;
  }
  if (states === undefined) {
    return <Unknown why="The states of exports are not known yet." />;
  }
  return (
    <span className={classes.states}>
      {states.map((each) => (
        <ExportMark key={each.format} row={each} hasFormat />
      ))}
    </span>
  );
}
