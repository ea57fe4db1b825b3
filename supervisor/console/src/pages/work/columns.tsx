import { Fragment } from "react";
import { missing, useMe } from "@/api/me";
import { CANCEL_COMPACTION, cancelCompactionOf } from "@/changes/tables";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Ago } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import classes from "./columns.module.css";
import { cutAt, markOf, type Work } from "./work";

/** The name of this table among the preferences. */
export const NAME = "work";

export const COLUMNS: readonly Column<Work>[] = [
  {
    id: "kind",
    header: "Kind",
    meta: { width: "96px", isFixed: true },
    cell: ({ row }) => (row.original.kind === "operation" ? "change" : row.original.kind),
  },
  {
    id: "state",
    header: "State",
    meta: { width: "minmax(190px, 0.8fr)", isFixed: true },
    cell: ({ row: { original } }) => <Mark {...markOf(original)}>{original.state}</Mark>,
  },
  {
    id: "what",
    header: "What",
    meta: { width: "minmax(130px, 1fr)", isFixed: true },
    cell: ({ row }) => <Foreign>{row.original.what}</Foreign>,
  },
  {
    id: "of",
    header: "Of",
    meta: { width: "minmax(120px, 1fr)", isFixed: true },
    cell: ({ row: { original } }) =>
      original.supervisor === null ? (
        <>
          <span className={classes.dim}>table </span>
          <Foreign>{original.table ?? ""}</Foreign>
        </>
      ) : (
        <SupervisorLink id={original.supervisor} />
      ),
  },
  {
    id: "progress",
    header: "Progress",
    meta: { width: "minmax(88px, 1fr)" },
    cell: ({ row }) => <Progress work={row.original} />,
  },
  {
    id: "since",
    header: "Began",
    meta: { width: "76px", align: "right" },
    cell: ({ row }) => <Ago at={row.original.since} unknown="When it began is not known." />,
  },
  {
    id: "ended",
    header: "Ended",
    meta: { width: "76px", align: "right" },
    cell: ({ row: { original } }) => (
      <Ago
        at={original.endedAt}
        unknown={original.standing === "ended" ? "When it ended is not known." : "It goes on."}
      />
    ),
  },
  {
    id: "by",
    header: "By",
    meta: { width: "minmax(92px, 0.6fr)" },
    cell: ({ row: { original } }) =>
      original.by === "" ? (
        <Unknown why="A rule wanted it, or nobody was asked who calls." />
      ) : (
        <Foreign>{original.by}</Foreign>
      ),
  },
  {
    id: "reason",
    header: "Reason",
    meta: { width: "minmax(90px, 1fr)" },
    cell: ({ row: { original } }) =>
      original.reason === null ? (
        <Unknown
          why={
            original.kind === "compaction"
              ? "Audit has the reason, if one was given."
              : "No reason was given."
          }
        />
      ) : (
        <span title={visible(original.reason)}>
          <Foreign>{original.reason}</Foreign>
        </span>
      ),
  },
  {
    id: "verbs",
    header: "Actions",
    meta: { width: "84px", isFixed: true, align: "right" },
    cell: ({ row }) => <Cancel work={row.original} />,
  },
];

function Progress({ work: { kind, progress, progressWords } }: { work: Work }) {
  if (progress === null) {
    const why =
      kind === "backfill" ? "No pass has looked at it yet." : "Only backfills know their end.";
    return <Unknown why={why} />;
  }
  return (
    <span className={classes.progress} title={progressWords}>
      <svg className={classes.bar} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden>
        <rect width={100 * progress} height="6" />
      </svg>
      {`${Math.floor(100 * progress)} %`}
    </span>
  );
}

/** What it waits for, or what came of it; ranges lead to their supervisor. */
export function Note({ work: { note, progressWords, ranges, supervisor } }: { work: Work }) {
  return (
    <span className={classes.note} title={visible(note)}>
      {progressWords}
      {progressWords !== "" && note !== "" && " · "}
      {cutAt(note, ranges).map(({ text, isName }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
        <Fragment key={n}>
          {isName && supervisor !== null ? (
            <SupervisorLink id={supervisor} text={text} />
          ) : (
            <Foreign>{text}</Foreign>
          )}
        </Fragment>
      ))}
    </span>
  );
}

function Cancel({ work: { cancel, table } }: { work: Work }) {
  const me = useMe();
  return cancel === null ? null : (
    <Barred
      size="compact-xs"
      why={missing(me, neededFor("post", CANCEL_COMPACTION), table)}
      onClick={() => openAction(cancelCompactionOf(cancel))}
    >
      Give up…
    </Barred>
  );
}
