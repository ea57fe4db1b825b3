import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { FlowLink } from "@/components/flow/links";
import { Age } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import type { FlowVersion } from "./data";
import { descriptionOf, stepsOf } from "./flows";

/** The name of this table among the preferences. */
export const NAME = "flows";

export const COLUMNS: readonly Column<FlowVersion>[] = [
  {
    id: "flow",
    header: "Flow",
    meta: { width: "minmax(150px, 1.4fr)", isFixed: true },
    cell: ({ row }) => <FlowLink flow={row.original.flow} />,
  },
  {
    id: "description",
    header: "What it is for",
    meta: { width: "minmax(160px, 2.4fr)" },
    cell: ({ row: { original } }) => {
      const text = visible(descriptionOf(original));
      return text === "" ? (
        <Unknown why="Its document has no description." />
      ) : (
        <bdi title={text}>{text}</bdi>
      );
    },
  },
  {
    id: "steps",
    header: "Steps",
    meta: { width: "70px", align: "right" },
    cell: ({ row }) => String(stepsOf(row.original)),
  },
  {
    id: "version",
    header: "Version",
    meta: { width: "76px", align: "right" },
    cell: ({ row }) => String(row.original.version),
  },
  {
    id: "at",
    header: "Applied",
    meta: { width: "86px", align: "right" },
    cell: ({ row }) => <Age at={row.original.at} unknown="When is not known." />,
  },
  {
    id: "author",
    header: "By",
    meta: { width: "minmax(90px, 1fr)" },
    cell: ({ row }) => <Foreign>{row.original.author}</Foreign>,
  },
  {
    id: "executions",
    header: "Executions",
    meta: { width: "100px" },
    cell: ({ row: { original } }) => (
      <Link
        to="/executions"
        search={{ flow: original.flow }}
        aria-label={`Executions of ${visible(original.flow)}`}
      >
        list
      </Link>
    ),
  },
];
