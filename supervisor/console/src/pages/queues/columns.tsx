import { Link } from "@tanstack/react-router";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Age, Span } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { bytes } from "@/text/sizes";
import classes from "./columns.module.css";
import { markOf, type Queue } from "./queues";

/** The name of this table among the preferences. */
export const NAME = "queues";
export const NOTHING_WAITS = "Nothing waits.";
export const NO_LATENCY = "This overlord has handled no event of it yet.";

export const COLUMNS: readonly Column<Queue>[] = [
  {
    id: "queue",
    header: "Queue",
    meta: { width: "minmax(220px, 2fr)", isFixed: true },
    cell: ({ row: { original } }) => (
      <Link
        to="/queues/$container/$name"
        params={{ container: original.container, name: original.name }}
      >
        <Foreign>{original.container}</Foreign> / <Foreign>{original.name}</Foreign>
      </Link>
    ),
  },
  {
    id: "state",
    header: "State",
    meta: { width: "minmax(110px, 0.8fr)", isFixed: true },
    cell: ({ row }) => <QueueMark queue={row.original} />,
  },
  {
    id: "events",
    header: "Events",
    meta: { width: "80px", align: "right" },
    cell: ({ row }) => <Count value={row.original.outstandingEvents} unknown="Not counted." />,
  },
  {
    id: "bytes",
    header: "Size",
    meta: { width: "80px", align: "right" },
    cell: ({ row }) => bytes(row.original.outstandingBytes),
  },
  {
    id: "oldest",
    header: "Oldest",
    meta: { width: "90px", align: "right" },
    cell: ({ row }) => <Age at={row.original.oldest?.enqueuedAt} unknown={NOTHING_WAITS} />,
  },
  {
    id: "p99",
    header: "p99",
    meta: { width: "80px", align: "right" },
    cell: ({ row }) => <Latency queue={row.original} />,
  },
  {
    id: "aside",
    header: "Set aside",
    meta: { width: "90px", align: "right" },
    cell: ({ row: { original } }) => (
      <span className={original.failedEvents > 0 ? classes.aside : undefined}>
        <Count value={original.failedEvents} unknown="Not counted." />
      </span>
    ),
  },
];

export function QueueMark({ queue }: { queue: Queue }) {
  const { tone, icon, word } = markOf(queue);
  return (
    <Mark tone={tone} icon={icon}>
      {word}
    </Mark>
  );
}

/** The time from adding an event until it is done, which 99 of 100 keep. */
export function Latency({ queue: { latency } }: { queue: Queue }) {
  return <Span millis={latency && latency.p99 * 1_000} unknown={NO_LATENCY} />;
}
