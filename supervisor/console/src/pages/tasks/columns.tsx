import { Link } from "@tanstack/react-router";
import { missing, useMe } from "@/api/me";
import { END_TASK, endTaskOf } from "@/changes/tasks";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TaskLink } from "@/components/TaskLink";
import { TaskMark } from "@/components/TaskMark";
import { Age, Span } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { WorkerLink } from "@/components/WorkerLink";
import { exact } from "@/text/numbers";
import classes from "./columns.module.css";
import type { TaskRow } from "./rows";
import type { TasksSearch } from "./search";

/** The name of this table among the preferences. */
export const NAME = "tasks";

const COLUMNS: readonly Column<TaskRow>[] = [
  {
    id: "id",
    header: "Task",
    meta: { width: "minmax(220px, 3.2fr)", isFixed: true },
    cell: ({ row: { original } }) => <TaskLink id={original.id} />,
  },
  {
    id: "status",
    header: "Status",
    meta: { width: "96px", isFixed: true },
    cell: ({ row: { original } }) => (
      <TaskMark status={original.status} runner={original.runnerStatusCode} />
    ),
  },
  {
    id: "supervisor",
    header: "Supervisor",
    meta: { width: "minmax(90px, 0.9fr)" },
    cell: ({ row: { original } }) => <SupervisorLink id={original.supervisorId} />,
  },
  {
    id: "range",
    header: "Range",
    meta: { width: "minmax(84px, 0.9fr)" },
    cell: ({ row: { original } }) => (
      <Narrow search={{ state: "all", generation: original.generationId }} what="the range">
        {original.generationId}
      </Narrow>
    ),
  },
  {
    id: "replica",
    header: "Replica",
    meta: { width: "70px", align: "right" },
    cell: ({ row: { original } }) => exact(original.replica),
  },
  {
    id: "attempt",
    header: "Attempt",
    meta: { width: "74px", align: "right" },
    cell: ({ row: { original } }) => exact(original.attempt),
  },
  {
    id: "worker",
    header: "Worker",
    meta: { width: "minmax(64px, 0.7fr)" },
    cell: ({ row: { original } }) =>
      original.workerId === "" ? (
        <Unknown why="A submitted task has none." />
      ) : (
        <WorkerLink id={original.workerId} />
      ),
  },
  {
    id: "table",
    header: "Table",
    meta: { width: "minmax(90px, 1fr)", isExtra: true },
    cell: ({ row: { original } }) => <Foreign>{original.dataSource}</Foreign>,
  },
  {
    id: "began",
    header: "Began",
    meta: { width: "64px", align: "right" },
    cell: ({ row: { original } }) => <Age at={original.createdTime} unknown="" />,
  },
  {
    id: "took",
    header: "Took",
    meta: { width: "84px", align: "right" },
    cell: ({ row: { original } }) => (
      <Span millis={original.duration < 0 ? null : original.duration} unknown="It has not ended." />
    ),
  },
  {
    id: "end",
    header: "End",
    meta: { width: "80px", align: "right", isFixed: true },
    cell: ({ row: { original } }) => <End row={original} />,
  },
];

/** The columns of all tasks, or of one supervisor's. */
export function columnsOf(isFixed: boolean): readonly Column<TaskRow>[] {
  return isFixed ? COLUMNS.filter(({ id }) => id !== "supervisor" && id !== "table") : COLUMNS;
}

type NarrowProps = { search: TasksSearch; what: string; children: string };

/** Leads to the tasks of the same range, or worker, alone. */
function Narrow({ search, what, children }: NarrowProps) {
  return children === "" ? (
    <Unknown why="A submitted task has none." />
  ) : (
    <Link to="." search={(before) => ({ ...before, ...search })} title={`Only tasks of ${what}`}>
      <Foreign>{children}</Foreign>
    </Link>
  );
}

function End({ row }: { row: TaskRow }) {
  const me = useMe();
  if (row.status !== "RUNNING") {
    return <span className={classes.dim}>ended</span>;
  }
  return (
    <Barred
      size="compact-xs"
      aria-label={`End the task ${row.id}`}
      why={missing(me, neededFor("post", END_TASK), row.dataSource)}
      onClick={() => openAction(endTaskOf(row.id, row.supervisorId))}
    >
      End…
    </Barred>
  );
}
