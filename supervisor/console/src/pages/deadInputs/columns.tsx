import type { Permission } from "@/api/me";
import {
  type DeadInput,
  DROP_INPUT,
  dropInputOf,
  nameOf,
  REPLAY_INPUT,
  replayInputOf,
} from "@/changes/deadInputs";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { ExecutionLink } from "@/components/flow/links";
import { Mark } from "@/components/Mark";
import { Stamp } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import classes from "./deadInputs.module.css";

/** The name of this table among the preferences. */
export const NAME = "dead-inputs";

type LackFor = (permission: Permission | null) => string | null;

/** The columns of dead inputs, with what can be done about each. */
export function columnsOf(
  lackFor: LackFor,
  onOpen: (input: DeadInput) => void,
): readonly Column<DeadInput>[] {
  return [
    {
      id: "input",
      header: "Input",
      meta: { width: "minmax(64px, 0.4fr)", isFixed: true },
      cell: ({ row: { original } }) => (
        <button type="button" className={classes.link} onClick={() => onOpen(original)}>
          {nameOf(original)}
        </button>
      ),
    },
    {
      id: "at",
      header: "Set aside",
      meta: { width: "132px" },
      cell: ({ row }) => <Stamp at={row.original.at} unknown="When is not known." />,
    },
    {
      id: "execution",
      header: "Execution",
      meta: { width: "minmax(140px, 1.2fr)", isFixed: true },
      cell: ({ row }) => <AddressedTo input={row.original} />,
    },
    {
      id: "reason",
      header: "Reason",
      meta: { width: "minmax(180px, 3fr)", isFixed: true },
      cell: ({ row }) => (
        <span title={visible(row.original.reason)}>
          <Foreign>{row.original.reason}</Foreign>
        </span>
      ),
    },
    {
      id: "from",
      header: "Partition",
      meta: { width: "76px", align: "right", isExtra: true },
      cell: ({ row }) => String(row.original.partition),
    },
    {
      id: "text",
      header: "Text",
      meta: { width: "minmax(120px, 1.2fr)" },
      cell: ({ row }) => <Foreign>{row.original.body}</Foreign>,
    },
    {
      id: "size",
      header: "Size",
      meta: { width: "70px", align: "right", isExtra: true },
      cell: ({ row }) => bytes(row.original.bytes),
    },
    {
      id: "handled",
      header: "Last done",
      meta: { width: "minmax(110px, 0.7fr)" },
      cell: ({ row }) => <HandledMark input={row.original} />,
    },
    {
      id: "verbs",
      header: "Actions",
      meta: { width: "156px", isFixed: true },
      cell: ({ row }) => <InputVerbs input={row.original} lackFor={lackFor} />,
    },
  ];
}

/** The execution that should have got an input; a gate has no page. */
export function AddressedTo({ input: { execution } }: { input: DeadInput }) {
  if (execution === null) {
    return <Unknown why="The input does not say for whom it is." />;
  }
  return execution.includes(":") ? (
    <ExecutionLink id={execution} />
  ) : (
    <Foreign>{execution}</Foreign>
  );
}

type VerbsProps = { input: DeadInput; lackFor: LackFor; onBegin?: () => void };

/** What can be done about an input; one that was handled can only be replayed, if it was dropped. */
export function InputVerbs({ input, lackFor, onBegin }: VerbsProps) {
  const { canReplay, canDrop } = verbsOf(input);
  return (
    <span className={classes.buttons}>
      {canReplay && (
        <Barred
          size="compact-xs"
          why={lackFor(neededFor("post", REPLAY_INPUT))}
          onClick={() => {
            onBegin?.();
            openAction(replayInputOf(input));
          }}
        >
          Replay…
        </Barred>
      )}
      {canDrop && (
        <Barred
          size="compact-xs"
          why={lackFor(neededFor("delete", DROP_INPUT))}
          onClick={() => {
            onBegin?.();
            openAction(dropInputOf(input));
          }}
        >
          Drop…
        </Barred>
      )}
    </span>
  );
}

/** What still changes an input. */
export function verbsOf({ handled }: DeadInput): { canReplay: boolean; canDrop: boolean } {
  return { canReplay: handled === null || handled.verb === "drop", canDrop: handled === null };
}

function HandledMark({ input: { handled } }: { input: DeadInput }) {
  return handled === null ? (
    <Unknown why="Nobody has done anything with it." />
  ) : (
    <Mark tone="dim" icon="done">
      {`${handled.verb === "drop" ? "dropped" : "sent again"}, ${visible(handled.by)}`}
    </Mark>
  );
}
