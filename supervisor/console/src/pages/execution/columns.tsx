import { Foreign } from "@/components/Foreign";
import { FlowMark } from "@/components/flow/FlowMark";
import { Took } from "@/components/flow/Took";
import { Stamp } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import type { Execution, ExecutionEvent } from "./data";
import classes from "./execution.module.css";
import { RunVerbs } from "./RunVerbs";
import type { RunRow } from "./tree";

const INDENT_PX = 16;
const NO_RUNNER = "No runner makes it: the overlord does it, or waits.";

type Parts = {
  execution: Execution;
  types: ReadonlyMap<string, string>;
  onOpen: (run: string) => void;
};

/** The columns of the table of steps. */
export const stepColumns = ({ execution, types, onOpen }: Parts): readonly Column<RunRow>[] => [
  {
    id: "step",
    header: "Step",
    meta: { width: "minmax(150px, 1.6fr)", isFixed: true },
    cell: ({ row: { original } }) => (
      <span style={{ paddingLeft: original.depth * INDENT_PX }}>
        <button type="button" className={classes.link} onClick={() => onOpen(original.run.id)}>
          <Foreign>{original.label}</Foreign>
        </button>
      </span>
    ),
  },
  {
    id: "state",
    header: "State",
    meta: { width: "110px", isFixed: true },
    cell: ({ row }) => <FlowMark state={row.original.run.state} />,
  },
  {
    id: "type",
    header: "Type",
    meta: { width: "90px" },
    cell: ({ row }) => {
      const type = types.get(row.original.run.step);
      return type === undefined ? <Unknown why="Its flow is not read yet." /> : visible(type);
    },
  },
  {
    id: "began",
    header: "Began",
    meta: { width: "140px" },
    cell: ({ row }) => <Stamp at={row.original.run.createdAt} unknown="When is not known." />,
  },
  {
    id: "took",
    header: "Took",
    meta: { width: "90px", align: "right" },
    cell: ({ row: { original } }) => (
      <Took from={original.run.createdAt} to={original.run.endedAt} unknown="Not known." />
    ),
  },
  {
    id: "attempts",
    header: "Attempts",
    meta: { width: "76px", align: "right" },
    cell: ({ row }) => String(row.original.run.attempts.length),
  },
  {
    id: "runner",
    header: "Runner",
    meta: { width: "minmax(90px, 0.8fr)" },
    cell: ({ row }) => {
      const runner = row.original.run.attempts.at(-1)?.runner;
      return runner ? <Foreign>{runner}</Foreign> : <Unknown why={NO_RUNNER} />;
    },
  },
  {
    id: "verbs",
    header: "Actions",
    meta: { width: "190px", isFixed: true },
    cell: ({ row: { original } }) => (
      <span className={classes.buttons}>
        <RunVerbs execution={execution} run={original.run} type={types.get(original.run.step)} />
      </span>
    ),
  },
];

/** The columns of the table of events. */
export const EVENT_COLUMNS: readonly Column<ExecutionEvent & { step: string }>[] = [
  {
    id: "number",
    header: "No.",
    meta: { width: "56px", align: "right", isFixed: true },
    cell: ({ row }) => String(row.original.number),
  },
  {
    id: "at",
    header: "When",
    meta: { width: "132px", isFixed: true },
    cell: ({ row }) => <Stamp at={row.original.at} unknown="When is not known." />,
  },
  {
    id: "name",
    header: "What",
    meta: { width: "minmax(130px, 1fr)", isFixed: true },
    cell: ({ row }) => <Foreign>{row.original.name}</Foreign>,
  },
  {
    id: "step",
    header: "Step",
    meta: { width: "minmax(110px, 1fr)" },
    cell: ({ row: { original } }) =>
      original.step === "" ? (
        <Unknown why="It is of the whole execution." />
      ) : (
        <Foreign>{original.step}</Foreign>
      ),
  },
  {
    id: "about",
    header: "About",
    meta: { width: "minmax(160px, 2.4fr)" },
    cell: ({ row }) => {
      const text = aboutOf(row.original.about);
      return text === "" ? <Unknown why="No more is known." /> : <span title={text}>{text}</span>;
    },
  },
];

/** The facts of an event in one line. */
export function aboutOf(about: Readonly<Record<string, unknown>>): string {
  return Object.entries(about)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => {
      const text = typeof value === "object" ? JSON.stringify(value) : String(value);
      return visible(`${name}: ${text}`);
    })
    .join(", ");
}
