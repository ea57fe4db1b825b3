import { Tooltip } from "@mantine/core";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import type { IconName } from "@/components/Icon";
import { Mark, type Tone } from "@/components/Mark";
import { Size } from "@/components/Size";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Clock, Due } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { Interval } from "../Interval";
import classes from "./columns.module.css";
import { type Segment, type State, stateOf } from "./rows";

/** The name of this table among the preferences. */
export const NAME = "files";

export const COLUMNS: readonly Column<Segment>[] = [
  {
    id: "path",
    header: "File",
    meta: { width: "minmax(180px, 1.8fr)", isFixed: true },
    cell: ({ row: { original } }) => <Path path={original.path} />,
  },
  {
    id: "interval",
    header: "Interval",
    meta: { width: "minmax(190px, 1.1fr)", isFixed: true },
    cell: ({ row: { original } }) => (
      <Interval from={original.intervalStart} to={original.intervalEnd} />
    ),
  },
  {
    id: "rows",
    header: "Rows",
    meta: { width: "84px", align: "right" },
    cell: ({ row }) => <Count value={row.original.rows} unknown="" />,
  },
  {
    id: "bytes",
    header: "Size",
    meta: { width: "84px", align: "right" },
    cell: ({ row }) => <Size value={row.original.sizeBytes} unknown="" />,
  },
  {
    id: "supervisor",
    header: "Published by",
    meta: { width: "minmax(100px, 0.8fr)" },
    cell: ({ row }) => <SupervisorLink id={row.original.supervisorId} />,
  },
  {
    id: "generation",
    header: "Range",
    meta: { width: "minmax(90px, 0.7fr)" },
    cell: ({ row: { original } }) => <Generation segment={original} />,
  },
  {
    id: "state",
    header: "State",
    meta: { width: "minmax(200px, 1fr)" },
    cell: ({ row }) => <FileState segment={row.original} />,
  },
];

/** A path by its end, which tells files apart; the whole of it on hover. */
function Path({ path }: { path: string }) {
  const parts = path.split("/");
  const end = parts.slice(-3).join("/");
  return (
    <Tooltip label={visible(path)}>
      <span className={classes.path}>
        <Foreign>{parts.length > 3 ? `…/${end}` : end}</Foreign>
      </span>
    </Tooltip>
  );
}

function Generation({ segment: { generationId, compactionId } }: { segment: Segment }) {
  return compactionId === null ? (
    <Foreign>{generationId}</Foreign>
  ) : (
    <Tooltip label={`Compacted by ${visible(compactionId)}; the newest range of it is this one.`}>
      <span>
        <Foreign>{generationId}</Foreign> <span className={classes.dim}>compacted</span>
      </span>
    </Tooltip>
  );
}

const STATES: Record<State, { tone: Tone; icon: IconName; word: string }> = {
  used: { tone: "good", icon: "good", word: "in use" },
  unused: { tone: "note", icon: "paused", word: "taken out" },
  replaced: { tone: "dim", icon: "done", word: "compacted" },
  going: { tone: "dim", icon: "close", word: "deleted" },
};

function FileState({ segment }: { segment: Segment }) {
  const { tone, icon, word } = STATES[stateOf(segment)];
  const { deleteAfter, deletedAt } = segment;
  return (
    <span className={classes.state}>
      <Mark tone={tone} icon={icon}>
        {word}
      </Mark>
      {deletedAt !== null ? (
        <span className={classes.dim}>
          <Clock at={deletedAt} unknown="" />
        </span>
      ) : (
        deleteAfter !== null && (
          <span className={classes.dim}>
            deleted <Due at={deleteAfter} unknown="" />
          </span>
        )
      )}
    </span>
  );
}
