import { Link } from "@tanstack/react-router";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Clock, Span } from "@/components/Time";
import { type Column, DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { isFailed, type Range, wordOf } from "./phases";
import classes from "./Timeline.module.css";

const NOT_OVER = "This step is not over, or was not needed.";
const HEAD_PX = 32;
const ROW_PX = 38;
const NOT_PUBLISHED = "It is not published.";

type Props = {
  ranges: readonly Range[];
  active: string | undefined;
  onOpen: (id: string) => void;
};

/** The same ranges as a table, newest first; a row opens its range. */
export function RangeTable({ ranges, active, onOpen }: Props) {
  return (
    <div className={classes.table} style={{ height: HEAD_PX + ROW_PX * ranges.length }}>
      <DataTable
        name="ranges"
        label="Ranges"
        columns={COLUMNS}
        rows={ranges}
        rowId={({ id }) => id}
        total={ranges.length}
        active={active}
        onActive={onOpen}
        empty={null}
      />
    </div>
  );
}

/** The state of a range; what failed is marked, whatever it came to. */
export function RangeMark({ range }: { range: Range }) {
  const word = wordOf(range);
  if (isFailed(range)) {
    const text = range.state === "DISCARDED" ? word : `${word}, with failures`;
    return (
      <Mark tone="broken" icon="broken">
        {text}
      </Mark>
    );
  }
  if (range.endedAt === null) {
    return (
      <Mark tone="note" icon="waiting">
        {word}
      </Mark>
    );
  }
  return (
    <Mark tone="good" icon="done">
      {word}
    </Mark>
  );
}

const COLUMNS: readonly Column<Range>[] = [
  {
    id: "opened",
    header: "Opened",
    meta: { width: "76px" },
    cell: ({ row: { original } }) => <Clock at={original.openedAt} unknown="" />,
  },
  {
    id: "group",
    header: "Group",
    meta: { width: "54px", align: "right" },
    cell: ({ row: { original } }) => original.group,
  },
  {
    id: "state",
    header: "State",
    meta: { width: "minmax(104px, 1fr)" },
    cell: ({ row: { original } }) => <RangeMark range={original} />,
  },
  ...(["reading", "pausing", "finishing", "publishing"] as const).map(
    (name): Column<Range> => ({
      id: name,
      header: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
      meta: { width: "minmax(64px, 0.6fr)", align: "right" },
      cell: ({ row: { original } }) => (
        <Span millis={original.durations[name]} unknown={NOT_OVER} />
      ),
    }),
  ),
  {
    id: "rows",
    header: "Rows",
    meta: { width: "66px", align: "right" },
    cell: ({ row: { original } }) => <Count value={original.rows} unknown={NOT_PUBLISHED} />,
  },
  {
    id: "why",
    header: "Why it ended",
    meta: { width: "minmax(120px, 2fr)" },
    cell: ({ row: { original } }) => (
      <span title={visible(original.handoffWhy)}>{visible(original.handoffWhy)}</span>
    ),
  },
  {
    id: "id",
    header: "Range",
    meta: { width: "minmax(110px, 1fr)" },
    cell: ({ row: { original } }) => (
      <Link to="." search={(before) => ({ ...before, range: original.id })}>
        <Foreign>{original.id}</Foreign>
      </Link>
    ),
  },
];
