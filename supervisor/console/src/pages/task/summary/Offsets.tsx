import { Button } from "@mantine/core";
import { useState } from "react";
import type { Exact } from "@/api/json";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { Unknown } from "@/components/Unknown";
import { counted as countedOf, exact } from "@/text/numbers";
import { type Task, usePosition } from "../data";
import { type Counted, type Facts, type OffsetRow, offsetsOf } from "../facts";
import classes from "./Summary.module.css";

const SHOWN = 100;

type Props = { task: Task; facts: Facts; counted: Counted | null | undefined };

/** Where the task began in each partition, where it is, and where it ends. */
export function Offsets({ task, facts, counted }: Props) {
  const position = usePosition(task);
  const [shown, setShown] = useState(SHOWN);
  const rows = offsetsOf(facts, position, counted?.read ?? null);
  const runs = task.status === "RUNNING";
  return (
    <Panel
      title="Offsets"
      aside={
        <span className={classes.dim}>
          {countedOf(rows.length, "partition")}; ends are exclusive
        </span>
      }
    >
      <table className={classes.table} aria-label="Offsets">
        <thead>
          <tr>
            <th scope="col">Partition</th>
            {["Start", runs ? "Current" : "Read to", "End", "Lag"].map((name) => (
              <th key={name} scope="col" data-align="right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
            <Row key={row.partition} row={row} runs={runs} />
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <Button mt="xs" onClick={() => setShown(shown + SHOWN)}>
          {`Show more of ${exact(rows.length)}`}
        </Button>
      )}
    </Panel>
  );
}

function Row({
  row: { partition, start, current, end, lag },
  runs,
}: {
  row: OffsetRow;
  runs: boolean;
}) {
  return (
    <tr>
      <td>
        <Foreign>{partition}</Foreign>
      </td>
      <td data-align="right">{exact(start)}</td>
      <td data-align="right">
        <Offset
          value={current}
          unknown={runs ? "It has not reported where it is." : "It ended without a report."}
        />
      </td>
      <td data-align="right">
        <Offset value={end} unknown="The end is not fixed: it reads on until its handoff." />
      </td>
      <td data-align="right">
        <Count
          value={lag}
          unknown={runs ? "A task that publishes has none, or it is not known." : "It has ended."}
        />
      </td>
    </tr>
  );
}

function Offset({ value, unknown }: { value: Exact | null; unknown: string }) {
  return value === null ? <Unknown why={unknown} /> : <span>{exact(value)}</span>;
}
