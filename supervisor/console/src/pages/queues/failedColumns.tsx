import type { Permission } from "@/api/me";
import {
  DROP_EVENT,
  dropEventOf,
  type QueueName,
  REPLAY_EVENT,
  replayEventOf,
} from "@/changes/queues";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Age } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import classes from "./columns.module.css";
import type { FailedRow } from "./data";

/** The name of this table among the preferences. */
export const NAME = "set-aside";

type LackFor = (permission: Permission | null) => string | null;

/** The columns of events that a queue has set aside, with what can be done about each. */
export function failedColumns(
  queue: QueueName,
  lackFor: LackFor,
  onOpen: (seq: number) => void,
): readonly Column<FailedRow>[] {
  return [
    {
      id: "seq",
      header: "Event",
      meta: { width: "80px", isFixed: true },
      cell: ({ row: { original } }) => (
        <button type="button" className={classes.link} onClick={() => onOpen(original.seq)}>
          {`event ${original.seq}`}
        </button>
      ),
    },
    {
      id: "key",
      header: "About",
      meta: { width: "minmax(140px, 1fr)", isFixed: true },
      cell: ({ row }) => <Foreign>{row.original.key}</Foreign>,
    },
    {
      id: "reason",
      header: "Reason",
      meta: { width: "minmax(200px, 2fr)", isFixed: true },
      cell: ({ row }) => (
        <span title={visible(row.original.reason)}>
          <Foreign>{row.original.reason}</Foreign>
        </span>
      ),
    },
    {
      id: "attempts",
      header: "Attempts",
      meta: { width: "76px", align: "right" },
      cell: ({ row }) => <Count value={row.original.attempts} unknown="Not counted." />,
    },
    {
      id: "size",
      header: "Size",
      meta: { width: "76px", align: "right" },
      cell: ({ row }) => bytes(row.original.sizeBytes),
    },
    {
      id: "added",
      header: "Added",
      meta: { width: "70px", align: "right" },
      cell: ({ row }) => <Age at={row.original.enqueuedAt} unknown="When is not known." />,
    },
    {
      id: "failed",
      header: "Set aside",
      meta: { width: "80px", align: "right" },
      cell: ({ row }) => <Age at={row.original.failedAt} unknown="When is not known." />,
    },
    {
      id: "verbs",
      header: "",
      meta: { width: "156px", isFixed: true },
      cell: ({ row: { original } }) => (
        <span className={classes.buttons}>
          <Barred
            size="compact-xs"
            why={lackFor(neededFor("post", REPLAY_EVENT))}
            onClick={() => openAction(replayEventOf(queue, original.seq))}
          >
            Replay…
          </Barred>
          <Barred
            size="compact-xs"
            why={lackFor(neededFor("delete", DROP_EVENT))}
            onClick={() => openAction(dropEventOf(queue, original.seq))}
          >
            Drop…
          </Barred>
        </span>
      ),
    },
  ];
}
