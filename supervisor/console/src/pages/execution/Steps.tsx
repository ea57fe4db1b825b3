import { useMemo } from "react";
import { DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { stepColumns } from "./columns";
import type { Execution, TaskRun } from "./data";
import classes from "./execution.module.css";
import { heightOf } from "./height";
import type { RunRow } from "./tree";
import { waitVerb } from "./words";

/** The name of this table among the preferences. */
export const STEPS = "steps";

type Props = {
  execution: Execution;
  rows: readonly RunRow[];
  types: ReadonlyMap<string, string>;
  active: string | undefined;
  onActive: (run: string) => void;
  onOpen: (run: string) => void;
};

/** Every task run with its state, its attempts and its error. */
export function Steps({ execution, rows, types, active, onActive, onOpen }: Props) {
  const columns = useMemo(
    () => stepColumns({ execution, types, onOpen }),
    [execution, types, onOpen],
  );
  const lines = rows.length + rows.filter(({ run }) => noteOf(run) !== null).length;
  return (
    <div className={classes.table} style={heightOf(lines)}>
      <DataTable
        name={STEPS}
        label="Steps"
        scrollsByKeys
        columns={columns}
        rows={rows}
        rowId={({ run }) => run.id}
        total={rows.length}
        below={({ run }) => noteOf(run)}
        active={active}
        onActive={onActive}
        onOpen={({ run }) => onOpen(run.id)}
        empty="No step has begun: it waits for its turn."
      />
    </div>
  );
}

/** Why a task run failed, or what it waits for; null: neither. */
function noteOf(run: TaskRun) {
  const { error, waitsFor, state } = run;
  if (waitsFor !== null && state === "WAITING") {
    return <span className={classes.why}>{visible(`${waitVerb(run)} ${waitsFor.what}`)}</span>;
  }
  if (error === null) {
    return null;
  }
  const text = visible(`${error.code}: ${error.message}`);
  return (
    <span className={classes.why} data-bad={state === "FAILED"} title={text}>
      {text}
    </span>
  );
}
