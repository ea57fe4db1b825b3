import { useMemo } from "react";
import { missing, useMe } from "@/api/me";
import { ROLL_BACK_FLOW, rollBackFlowOf } from "@/changes/flows";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { Stamp } from "@/components/Time";
import { type Column, DataTable } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import { heightOf } from "../execution/height";
import type { FlowVersion } from "./data";
import classes from "./flow.module.css";

type Props = {
  versions: readonly FlowVersion[];
  hasMore: boolean;
  /** The version whose document is shown. */
  shown: number;
  active: string | undefined;
  onActive: (id: string) => void;
  onShow: (version: number) => void;
  onEnd: () => void;
};

/** The versions of a flow: who applied each, and the way back to it. */
export function Versions({ versions, hasMore, shown, onShow, onEnd, ...keys }: Props) {
  const lack = missing(useMe(), neededFor("post", ROLL_BACK_FLOW), null);
  const newest = versions[0];
  const columns = useMemo(
    () => (newest === undefined ? [] : columnsOf(newest, shown, lack, onShow)),
    [newest, shown, lack, onShow],
  );
  return (
    <div className={classes.table} style={heightOf(versions.length)}>
      <DataTable
        name="flow-versions"
        label="Versions"
        scrollsByKeys
        columns={columns}
        rows={versions}
        rowId={({ version }) => String(version)}
        total={versions.length + (hasMore ? 1 : 0)}
        active={keys.active}
        onActive={keys.onActive}
        onOpen={({ version }) => onShow(version)}
        onEnd={onEnd}
        empty="It has no version that you may read."
      />
    </div>
  );
}

function columnsOf(
  newest: FlowVersion,
  shown: number,
  lack: string | null,
  onShow: (version: number) => void,
): Column<FlowVersion>[] {
  return [
    {
      id: "version",
      header: "Version",
      meta: { width: "minmax(120px, 0.8fr)", isFixed: true },
      cell: ({ row: { original } }) => (
        <button
          type="button"
          className={classes.link}
          aria-pressed={original.version === shown}
          onClick={() => onShow(original.version)}
        >
          {`${original.version}${noteOf(original, newest)}`}
        </button>
      ),
    },
    {
      id: "at",
      header: "When",
      meta: { width: "132px" },
      cell: ({ row }) => <Stamp at={row.original.at} unknown="When is not known." />,
    },
    {
      id: "author",
      header: "Who",
      meta: { width: "minmax(80px, 0.8fr)" },
      cell: ({ row }) => <Foreign>{row.original.author}</Foreign>,
    },
    {
      id: "reason",
      header: "Reason",
      meta: { width: "minmax(100px, 1.4fr)" },
      cell: ({ row: { original } }) =>
        original.reason === null ? (
          <Unknown why="No reason was given." />
        ) : (
          <bdi title={visible(original.reason)}>{visible(original.reason)}</bdi>
        ),
    },
    {
      id: "verbs",
      header: "Actions",
      meta: { width: "110px", isFixed: true },
      cell: ({ row: { original } }) =>
        original.document === null || original.version === newest.version ? null : (
          <Barred
            size="compact-xs"
            aria-label={`Roll back to version ${original.version}`}
            why={lack}
            onClick={() =>
              openAction(
                rollBackFlowOf(
                  original.flow,
                  original.version,
                  newest.document === null ? null : newest.version,
                ),
              )
            }
          >
            Roll back…
          </Barred>
        ),
    },
  ];
}

function noteOf({ version, document }: FlowVersion, newest: FlowVersion): string {
  if (document === null) {
    return ", deletes it";
  }
  return version === newest.version ? ", the newest" : "";
}
