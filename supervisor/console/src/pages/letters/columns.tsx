import type { Permission } from "@/api/me";
import {
  DROP_LETTER,
  dropLetterOf,
  type Letter,
  type LetterOf,
  nameOf,
  REPLAY_LETTER,
  replayLetterOf,
} from "@/changes/letters";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Stamp } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import classes from "./letters.module.css";

/** The name of this table among the preferences. */
export const NAME = "dead-letters";

type LackFor = (permission: Permission | null) => string | null;

/** The columns of dead letters, with what can be done about each. */
export function columnsOf(
  lackFor: LackFor,
  onOpen: (row: LetterOf) => void,
): readonly Column<LetterOf>[] {
  return [
    {
      id: "letter",
      header: "Letter",
      meta: { width: "minmax(124px, 0.6fr)", isFixed: true },
      cell: ({ row: { original } }) => (
        <button type="button" className={classes.link} onClick={() => onOpen(original)}>
          {nameOf(original.letter)}
        </button>
      ),
    },
    {
      id: "at",
      header: "Kept",
      meta: { width: "132px" },
      cell: ({ row }) => <Stamp at={row.original.letter.at} unknown="When is not known." />,
    },
    {
      id: "reason",
      header: "Reason",
      meta: { width: "minmax(180px, 2fr)", isFixed: true },
      cell: ({ row }) => (
        <span title={visible(row.original.letter.reason)}>
          <Foreign>{row.original.letter.reason}</Foreign>
        </span>
      ),
    },
    {
      id: "from",
      header: "Read from",
      meta: { width: "minmax(120px, 1fr)" },
      cell: ({ row }) => <Foreign>{originOf(row.original.letter)}</Foreign>,
    },
    {
      id: "text",
      header: "Text",
      meta: { width: "minmax(120px, 1.5fr)" },
      cell: ({ row }) => <Foreign>{row.original.letter.body}</Foreign>,
    },
    {
      id: "size",
      header: "Size",
      meta: { width: "70px", align: "right" },
      cell: ({ row }) => bytes(row.original.letter.bytes),
    },
    {
      id: "handled",
      header: "Last done",
      meta: { width: "minmax(110px, 0.7fr)" },
      cell: ({ row }) => <HandledMark letter={row.original.letter} />,
    },
    {
      id: "verbs",
      header: "Actions",
      meta: { width: "156px", isFixed: true },
      cell: ({ row }) => <LetterVerbs of={row.original} lackFor={lackFor} />,
    },
  ];
}

type VerbsProps = { of: LetterOf; lackFor: LackFor; onBegin?: () => void };

/** What can be done about a letter; one that was handled can only be replayed, if it was dropped. */
export function LetterVerbs({ of, lackFor, onBegin }: VerbsProps) {
  const { canReplay, canDrop } = verbsOf(of.letter);
  return (
    <span className={classes.buttons}>
      {canReplay && (
        <Barred
          size="compact-xs"
          why={lackFor(neededFor("post", REPLAY_LETTER))}
          onClick={() => {
            onBegin?.();
            openAction(replayLetterOf(of));
          }}
        >
          Replay…
        </Barred>
      )}
      {canDrop && (
        <Barred
          size="compact-xs"
          why={lackFor(neededFor("delete", DROP_LETTER))}
          onClick={() => {
            onBegin?.();
            openAction(dropLetterOf(of));
          }}
        >
          Drop…
        </Barred>
      )}
    </span>
  );
}

/** What still changes a letter: a replay that was refused has done nothing. */
export function verbsOf({ handled }: Letter): { canReplay: boolean; canDrop: boolean } {
  const isOpen = handled === null || handled.outcome === "rejected";
  return { canReplay: isOpen || handled.verb === "drop", canDrop: isOpen };
}

/** Where a letter was read: a topic with partition and offset, or a door. */
export function originOf({ topic, topicPartition, topicOffset }: Letter): string {
  return Number(topicPartition) < 0 ? topic : `${topic}[${topicPartition}]@${topicOffset}`;
}

export function HandledMark({ letter: { handled } }: { letter: Letter }) {
  if (handled === null) {
    return <Unknown why="Nobody has done anything with it." />;
  }
  const { outcome, by } = handled;
  const isRefused = outcome === "rejected";
  return (
    <Mark tone={isRefused ? "risk" : "dim"} icon={isRefused ? "risk" : "done"}>
      {`${isRefused ? "refused again" : visible(outcome)}, ${visible(by)}`}
    </Mark>
  );
}
