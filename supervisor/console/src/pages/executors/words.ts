import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import type { Executor, Partition, Standing } from "./data";

/** How it goes, in a sentence: who is there, what nobody works, what waits. */
export function sentenceOf({ engine, executors, partitions }: Standing): string {
  if (engine === "sql") {
    return "Flows run in the database of the overlord that leads: there is nothing to own.";
  }
  const living = executors.filter(({ state }) => state !== "SILENT").length;
  const silent = executors.length - living;
  const orphans = partitions.filter(({ owner }) => owner === null).length;
  const lag = partitions.reduce((sum, each) => sum + Number(each.lag), 0);
  const parts = [
    "Flows run on Kafka",
    living === 0 ? "nobody works executions" : counted(living, "executor"),
    silent > 0 ? `${exact(silent)} silent` : "",
    orphans > 0
      ? `nobody works ${exact(orphans)} of ${counted(partitions.length, "partition")}`
      : counted(partitions.length, "partition"),
    lag > 0 ? counted(lag, "input waits", "inputs wait") : "no input waits",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Numbers in a row, runs of them shortened: "0-3, 6". */
export function numbersOf(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const each of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === each - 1) {
      last[1] = each;
    } else {
      runs.push([each, each]);
    }
  }
  return runs
    .map(([from, to]) =>
      from === to ? `${from}` : to === from + 1 ? `${from}, ${to}` : `${from}-${to}`,
    )
    .join(", ");
}

/** A call in words, after the name of its execution. */
export function callWords({ attempt, look }: Executor["makes"][number]): string {
  return Number(look) > 0 ? `look ${exact(look)} at its condition` : `attempt ${exact(attempt)}`;
}

/** What is wrong with a partition; empty: nothing. */
export function troubleOf({ owner }: Partition, executors: readonly Executor[]): string {
  if (owner === null) {
    return "nobody";
  }
  const { state, reason } = executors.find(({ name }) => name === owner) ?? {};
  return state === "WAITING" ? visible(reason ?? "") : "";
}
