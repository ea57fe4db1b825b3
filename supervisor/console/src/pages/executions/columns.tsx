import { FlowMark } from "@/components/flow/FlowMark";
import { ExecutionLink, FlowLink } from "@/components/flow/links";
import { Took } from "@/components/flow/Took";
import { Age } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import type { ExecutionLine } from "./data";

/** The name of this table among the preferences. */
export const NAME = "executions";
export const NOT_BEGUN = "None of its steps has begun.";

export const COLUMNS: readonly Column<ExecutionLine>[] = [
  {
    id: "id",
    header: "Execution",
    meta: { width: "minmax(220px, 2.4fr)", isFixed: true },
    cell: ({ row }) => <ExecutionLink id={row.original.id} />,
  },
  {
    id: "state",
    header: "State",
    meta: { width: "110px", isFixed: true },
    cell: ({ row }) => <FlowMark state={row.original.state} />,
  },
  {
    id: "flow",
    header: "Flow",
    meta: { width: "minmax(110px, 1.2fr)" },
    cell: ({ row }) => <FlowLink flow={row.original.flow} />,
  },
  {
    id: "version",
    header: "Version",
    meta: { width: "76px", align: "right" },
    cell: ({ row }) => String(row.original.flowVersion),
  },
  {
    id: "created",
    header: "Started",
    meta: { width: "86px", align: "right" },
    cell: ({ row }) => <Age at={row.original.createdAt} unknown="When is not known." />,
  },
  {
    id: "took",
    header: "Took",
    meta: { width: "100px", align: "right" },
    cell: ({ row: { original } }) => (
      <Took from={original.beganAt} to={original.endedAt} unknown={NOT_BEGUN} />
    ),
  },
  {
    id: "labels",
    header: "Labels",
    meta: { width: "minmax(100px, 1.2fr)" },
    cell: ({ row: { original } }) => {
      const text = labelsOf(original.labels);
      return text === "" ? <Unknown why="It has no labels." /> : <span title={text}>{text}</span>;
    },
  },
  {
    id: "parent",
    header: "Started by",
    meta: { width: "minmax(120px, 1.2fr)", isExtra: true },
    cell: ({ row: { original } }) =>
      original.parent === null ? (
        visible(original.startedBy)
      ) : (
        <ExecutionLink id={original.parent} />
      ),
  },
];

/** Labels in one line. */
export function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => visible(`${name}=${value}`))
    .join(", ");
}
