import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { TaskLink } from "@/components/TaskLink";
import { Stamp } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { windowOf } from "../search";
import type { EventView } from "./feed";
import { isTrouble, summed } from "./kinds";

/** The name of this table among the preferences. */
export const NAME = "events";

export const COLUMNS: readonly Column<EventView>[] = [
  {
    id: "at",
    header: "Time",
    meta: { width: "140px", isFixed: true },
    cell: ({ row: { original } }) => <Stamp at={original.at} unknown="When is not known." />,
  },
  {
    id: "type",
    header: "Event",
    meta: { width: "minmax(160px, 1fr)", isFixed: true },
    cell: ({ row: { original } }) => (
      <Link to="." search={(before) => ({ ...before, event: String(original.id) })}>
        <TypeMark event={original} />
      </Link>
    ),
  },
  {
    id: "about",
    header: "About",
    meta: { width: "minmax(120px, 1.4fr)" },
    cell: ({ row: { original } }) => <About event={original} />,
  },
  {
    id: "group",
    header: "Group",
    meta: { width: "58px", align: "right" },
    cell: ({ row: { original } }) => original.group ?? "",
  },
  {
    id: "detail",
    header: "What happened",
    meta: { width: "minmax(160px, 3fr)" },
    cell: ({ row: { original } }) => {
      const text = visible(summed(original.detail));
      return <span title={text}>{text}</span>;
    },
  },
];

/** The type of an event; a trouble is marked. */
export function TypeMark({ event: { type, detail } }: { event: EventView }) {
  return isTrouble(type, detail) ? (
    <Mark tone="broken" icon="broken">
      {visible(type)}
    </Mark>
  ) : (
    <span>{visible(type)}</span>
  );
}

/** The task or the range that an event is about; nothing where it is about the supervisor. */
export function About({ event }: { event: EventView }) {
  const { taskId, generationId, supervisorId, at } = event;
  if (taskId !== null) {
    return <TaskLink id={taskId} />;
  }
  return generationId === null ? null : (
    <Link
      to="/supervisors/$id/timeline"
      params={{ id: supervisorId }}
      search={{ range: generationId, window: windowOf(at) }}
    >
      <Foreign>{generationId}</Foreign>
    </Link>
  );
}
