import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Icon, type IconName } from "@/components/Icon";
import { StateMark } from "@/components/Mark";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Age, Due, Span } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import classes from "./columns.module.css";
import { LagCourse } from "./LagCourse";
import { rangeWords } from "./rangeWords";
import type { ListedRow } from "./rows";

/** The name of this table among the preferences. */
export const NAME = "supervisors";
const NO_LOOK = "No pass of this leader has looked at it yet.";

export const COLUMNS: readonly Column<ListedRow>[] = [
  {
    id: "id",
    header: "Supervisor",
    meta: { width: "minmax(130px, 1.6fr)", sort: "id", isFixed: true },
    cell: ({ row }) => <SupervisorLink id={row.original.id} />,
  },
  {
    id: "state",
    header: "State",
    meta: { width: "minmax(250px, 1.6fr)", sort: "detailedState", isFixed: true },
    cell: ({ row: { original } }) => (
      <span className={classes.state}>
        <StateMark
          state={original.state}
          detailed={original.detailedState}
          healthy={original.healthy}
        />
        {original.healthy && (
          <span className={classes.dim}>
            <Age at={original.since} unknown="The state is newer than the last stored one." />
          </span>
        )}
      </span>
    ),
  },
  {
    id: "lag",
    header: "Lag",
    meta: { width: "74px", align: "right", sort: "lagRecords" },
    cell: ({ row: { original } }) => (
      <span className={classes.lag}>
        <LagCourse id={original.id} />
        <Count value={original.lagRecords} unknown={NO_LOOK} />
        <TrendMark trend={original.trend} />
      </span>
    ),
  },
  {
    id: "oldest",
    header: "Oldest",
    meta: { width: "78px", align: "right", sort: "lagMillis" },
    cell: ({ row: { original } }) => (
      <Span
        millis={original.lagMillis}
        unknown={original.lagRecords === 0 ? "Nothing is unread." : NO_LOOK}
      />
    ),
  },
  {
    id: "rate",
    header: "Rows/s",
    meta: { width: "62px", align: "right", sort: "rowsPerSecond" },
    cell: ({ row: { original } }) => (
      <Count
        value={original.rowsPerSecond}
        unknown="Its ranges are younger than 10 s, or were not heard of yet."
      />
    ),
  },
  {
    id: "groups",
    header: "Ranges",
    meta: { width: "minmax(130px, 1fr)", sort: "pending" },
    cell: ({ row: { original } }) => <Ranges row={original} />,
  },
  {
    id: "due",
    header: "Publishes",
    meta: { width: "84px", align: "right", sort: "nextPublishDue" },
    cell: ({ row: { original } }) => (
      <Due at={original.nextPublishDue} unknown="No range of it reads now." />
    ),
  },
  {
    id: "published",
    header: "Published",
    meta: { width: "76px", align: "right", sort: "lastPublishedAt" },
    cell: ({ row: { original } }) => (
      <Age at={original.lastPublishedAt} unknown="Nothing is published yet." />
    ),
  },
  {
    id: "bad",
    header: "Bad",
    meta: { width: "46px", align: "right", sort: "badRecords" },
    cell: ({ row: { original } }) => <Count value={original.badRecords} unknown={NO_LOOK} />,
  },
  {
    id: "table",
    header: "Table",
    meta: { width: "minmax(90px, 1fr)", sort: "dataSource", isExtra: true },
    cell: ({ row: { original } }) => <Named name={original.dataSource} />,
  },
  {
    id: "topic",
    header: "Topic",
    meta: { width: "minmax(90px, 1fr)", sort: "stream", isExtra: true },
    cell: ({ row: { original } }) => <Named name={original.stream} />,
  },
  {
    id: "version",
    header: "Version",
    meta: { width: "minmax(70px, 0.7fr)", sort: "versionAt" },
    cell: ({ row: { original } }) => (
      <span title={original.versionBy === "" ? undefined : `by ${visible(original.versionBy)}`}>
        v{original.version}{" "}
        <span className={classes.dim}>
          <Age at={original.versionAt} unknown="When it was stored is not known." />
        </span>
      </span>
    ),
  },
];

const TRENDS: Record<string, { icon: IconName; word: string }> = {
  rising: { icon: "rising", word: "rising over 15 minutes" },
  falling: { icon: "falling", word: "falling over 15 minutes" },
};

function TrendMark({ trend }: { trend: string | null }) {
  const known = TRENDS[trend ?? ""];
  return known === undefined ? (
    <span className={classes.trend} />
  ) : (
    <span className={classes.trend} data-trend={trend} role="img" aria-label={known.word}>
      <Icon name={known.icon} size={11} />
    </span>
  );
}

function Named({ name }: { name: string | null }) {
  return name === null ? (
    <Unknown why="This release cannot read its spec." />
  ) : (
    <Foreign>{name}</Foreign>
  );
}

function Ranges({ row: { groups, replicas } }: { row: ListedRow }) {
  if (groups === null) {
    return <Unknown why={NO_LOOK} />;
  }
  const pending = replicas?.pending ?? 0;
  const unread = replicas?.unread ?? 0;
  const words = rangeWords(groups, unread);
  return (
    <span>
      {words === "" ? (
        <span className={classes.dim}>{unread > 0 ? "none read" : "none"}</span>
      ) : (
        words
      )}
      {pending > 0 && (
        <span className={classes.pending}>
          {unread > 0 ? ` ${pending} wait: nobody reads ${unread}` : ` ${pending} wait`}
        </span>
      )}
    </span>
  );
}
