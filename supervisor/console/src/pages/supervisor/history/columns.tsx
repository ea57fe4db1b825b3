import { Foreign } from "@/components/Foreign";
import type { IconName } from "@/components/Icon";
import { Mark, type Tone } from "@/components/Mark";
import { Ago } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { known } from "@/text/known";
import { visible } from "@/text/visible";
import { EffectMark } from "../spec/EffectMark";
import { fieldName } from "../spec/facts";
import classes from "./columns.module.css";
import { RollBackButton } from "./RollBackButton";
import type { VersionLine } from "./versions";

/** The name of this table among the preferences. */
export const NAME = "versions";

const KINDS: Readonly<Record<string, { tone: Tone; icon: IconName }>> = {
  created: { tone: "good", icon: "good" },
  changed: { tone: "note", icon: "note" },
  "rolled-back": { tone: "note", icon: "steady" },
  suspended: { tone: "dim", icon: "paused" },
  resumed: { tone: "good", icon: "good" },
  terminated: { tone: "dim", icon: "done" },
};

type Side = "left" | "right";
export type Picked = Readonly<Partial<Record<Side, number>>>;

/** The columns of the versions; the first two pick what is compared. */
export function columnsFor(
  picked: Picked,
  onPick: (side: Side, version: number) => void,
): Column<VersionLine>[] {
  return [
    picker("left", picked, onPick),
    picker("right", picked, onPick),
    {
      id: "version",
      header: "Version",
      meta: { width: "64px", align: "right", isFixed: true },
      cell: ({ row }) => <strong>{row.original.versionNumber}</strong>,
    },
    {
      id: "at",
      header: "When",
      meta: { width: "76px", align: "right" },
      cell: ({ row }) => <Ago at={row.original.at} unknown="When it was stored is not known." />,
    },
    {
      id: "author",
      header: "Who",
      meta: { width: "minmax(92px, 0.6fr)" },
      cell: ({ row }) => <Author line={row.original} />,
    },
    {
      id: "kind",
      header: "What",
      meta: { width: "112px", isFixed: true },
      cell: ({ row }) => <Kind line={row.original} />,
    },
    {
      id: "changed",
      header: "Changed fields",
      meta: { width: "minmax(150px, 1.6fr)", isFixed: true },
      cell: ({ row }) => <Changed line={row.original} />,
    },
    {
      id: "effect",
      header: "Effect",
      meta: { width: "142px" },
      cell: ({ row: { original } }) =>
        original.effect === null ? (
          <Unknown why={original.unknown ?? "It is the first spec, or the end of one."} />
        ) : (
          <EffectMark effect={original.effect} />
        ),
    },
    {
      id: "reason",
      header: "Reason",
      meta: { width: "minmax(100px, 1.2fr)" },
      cell: ({ row: { original } }) =>
        original.reason ? (
          <span title={visible(original.reason)}>
            <Foreign>{original.reason}</Foreign>
          </span>
        ) : (
          <Unknown why="No reason was given." />
        ),
    },
    {
      id: "operation",
      header: "Operation",
      meta: { width: "minmax(90px, 0.7fr)", isExtra: true },
      cell: ({ row: { original } }) =>
        original.operationId === null ? (
          <Unknown why="No operation is kept of it." />
        ) : (
          <code className={classes.operation}>{visible(original.operationId)}</code>
        ),
    },
    {
      id: "rollback",
      header: "Way back",
      meta: { width: "136px", align: "right", isFixed: true },
      cell: ({ row }) => <RollBackButton line={row.original} />,
    },
  ];
}

function picker(
  side: Side,
  picked: Picked,
  onPick: (side: Side, version: number) => void,
): Column<VersionLine> {
  return {
    id: side,
    header: side === "left" ? "Left" : "Right",
    meta: { width: "56px", isFixed: true },
    cell: ({ row: { original } }) => (
      <input
        type="radio"
        className={classes.pick}
        name={side}
        aria-label={`${side === "left" ? "Left" : "Right"}: version ${original.versionNumber}`}
        checked={picked[side] === original.versionNumber}
        onChange={() => onPick(side, original.versionNumber)}
      />
    ),
  };
}

function Author({ line }: { line: VersionLine }) {
  if (line.author === null) {
    return <Unknown why={line.unknown ?? "Who stored it is not known."} />;
  }
  return line.author === "" ? (
    <Unknown why="Nobody was asked who stored it." />
  ) : (
    <Foreign>{line.author}</Foreign>
  );
}

function Kind({ line }: { line: VersionLine }) {
  if (line.kind === null) {
    return <Unknown why={line.unknown ?? "What it did is not known."} />;
  }
  const { tone, icon } = known(KINDS, line.kind) ?? {
    tone: "note" as const,
    icon: "note" as const,
  };
  return (
    <Mark tone={tone} icon={icon}>
      {line.kind}
    </Mark>
  );
}

function Changed({ line }: { line: VersionLine }) {
  if (line.changed === null) {
    return <Unknown why={line.unknown ?? "It is the first spec, or the end of one."} />;
  }
  const names = line.changed.map(fieldName).map(visible).join(", ");
  return names === "" ? (
    <span className={classes.dim}>nothing</span>
  ) : (
    <span title={names}>{names}</span>
  );
}
