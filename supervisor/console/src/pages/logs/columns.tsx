import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { ExecutionLink } from "@/components/flow/links";
import { Mark } from "@/components/Mark";
import { SupervisorLink } from "@/components/SupervisorLink";
import { TaskLink } from "@/components/TaskLink";
import { TaskMark } from "@/components/TaskMark";
import { Stamp } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { WorkerLink } from "@/components/WorkerLink";
import { visible } from "@/text/visible";
import type { Line, Report } from "./rows";

/** The names of these tables among the preferences. */
export const LINES_NAME = "stored-lines";
export const REPORTS_NAME = "stored-reports";
const NO_TIME = "When it was is not known.";
const NOT_NAMED = "Its sender did not say.";

type Owned = { supervisor: string | null; worker: string | null };

export const LINE_COLUMNS: readonly Column<Line>[] = [
  {
    id: "at",
    header: "When",
    meta: { width: "132px", isFixed: true },
    cell: ({ row }) => <Stamp at={row.original.at} unknown={NO_TIME} />,
  },
  {
    id: "level",
    header: "Level",
    meta: { width: "98px", isFixed: true },
    cell: ({ row }) => <LevelMark level={row.original.level} />,
  },
  {
    id: "supervisor",
    header: "Supervisor",
    meta: { width: "minmax(90px, 0.7fr)" },
    cell: ({ row }) => <Supervisor of={row.original} />,
  },
  {
    id: "task",
    header: "Task, at the line",
    meta: { width: "minmax(150px, 1.2fr)", isFixed: true },
    cell: ({ row }) => <LineLink line={row.original} />,
  },
  {
    id: "worker",
    header: "Worker",
    meta: { width: "minmax(70px, 0.5fr)" },
    cell: ({ row }) => <Worker of={row.original} />,
  },
  {
    id: "text",
    header: "Line",
    meta: { width: "minmax(220px, 4fr)", isFixed: true },
    cell: ({ row }) => {
      const text = textOf(row.original);
      return (
        <span title={visible(text)}>
          <Foreign>{text}</Foreign>
        </span>
      );
    },
  },
];

export const REPORT_COLUMNS: readonly Column<Report>[] = [
  {
    id: "at",
    header: "When",
    meta: { width: "132px", isFixed: true },
    cell: ({ row }) => <Stamp at={row.original.at} unknown={NO_TIME} />,
  },
  {
    id: "status",
    header: "Status",
    meta: { width: "104px", isFixed: true },
    cell: ({ row: { original } }) =>
      original.status === null ? (
        <Unknown why="The attempt had not ended." />
      ) : (
        <TaskMark status={original.status} />
      ),
  },
  {
    id: "type",
    header: "Type",
    meta: { width: "100px" },
    cell: ({ row }) => <Foreign>{row.original.type}</Foreign>,
  },
  {
    id: "supervisor",
    header: "Supervisor",
    meta: { width: "minmax(90px, 0.7fr)" },
    cell: ({ row }) => <Supervisor of={row.original} />,
  },
  {
    id: "task",
    header: "About",
    meta: { width: "minmax(150px, 1.2fr)", isFixed: true },
    cell: ({ row }) => <AboutLink report={row.original} />,
  },
  {
    id: "worker",
    header: "Worker",
    meta: { width: "minmax(70px, 0.5fr)" },
    cell: ({ row }) => <Worker of={row.original} />,
  },
  {
    id: "error",
    header: "Error",
    meta: { width: "minmax(180px, 3fr)", isFixed: true },
    cell: ({ row: { original } }) =>
      original.error === "" ? (
        <Unknown why="It names no error." />
      ) : (
        <span title={visible(original.error)}>
          <Foreign>{original.error}</Foreign>
        </span>
      ),
  },
];

const LEVELS: Record<string, "broken" | "risk"> = { CRITICAL: "broken", ERROR: "broken" };

function LevelMark({ level }: { level: string }) {
  const tone = LEVELS[level] ?? "risk";
  return (
    <Mark tone={tone} icon={tone}>
      {level}
    </Mark>
  );
}

function Supervisor({ of }: { of: Owned }) {
  return of.supervisor === null ? (
    <Unknown why={NOT_NAMED} />
  ) : (
    <SupervisorLink id={of.supervisor} />
  );
}

function Worker({ of }: { of: Owned }) {
  return of.worker === null ? <Unknown why={NOT_NAMED} /> : <WorkerLink id={of.worker} />;
}

/** Leads to the log of a task, where it has this line: no other one has its time. */
/** The execution of a subject, which may be one of its steps; null: it is another one's. */
export function executionOf(subject: string): string | null {
  // An execution's id is that of its flow and a key; no id of a task has a colon.
  return subject.includes(":") ? (subject.split("/", 1)[0] ?? null) : null;
}

function AboutLink({ report: { origin, task } }: { report: Report }) {
  const execution = origin === "execution" ? executionOf(task) : null;
  if (execution !== null) {
    return <ExecutionLink id={execution} text={task} />;
  }
  return origin === "supervisor" ? <SupervisorLink id={task} /> : <TaskLink id={task} />;
}

function LineLink({ line }: { line: Line }) {
  const execution = executionOf(line.task);
  if (execution !== null) {
    return <ExecutionLink id={execution} />;
  }
  const find = line.text.split(" ", 1)[0];
  return (
    <Link to="/tasks/$task/log" params={{ task: line.task }} search={{ find }}>
      <Foreign>{line.task}</Foreign>
    </Link>
  );
}

/** A line without its time and level, which are columns already. */
export function textOf({ text }: { text: string }): string {
  return /^\S+ +\S+ +(.*)$/s.exec(text)?.[1] ?? text;
}
