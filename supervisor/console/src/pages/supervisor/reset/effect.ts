import type { Exact } from "@/api/json";
import type { components } from "@/api/schema";
import type { Confirm } from "@/components/action/effect";
import { quoted } from "@/text/shell";
import type { NextOffsets, Target } from "./target";

export type Moved = components["schemas"]["Moved"];
export type Backfilled = components["schemas"]["Backfilled"];
export type Preview = Moved | Backfilled;
export type MovedPartition = components["schemas"]["MovedPartition"];

export type Totals = { skipped: bigint; lost: bigint; repeated: bigint };

/** The partitions for which two previews differ, by name. */
export function changedBetween(read: Preview | null, newer: Preview | null): ReadonlySet<string> {
  if (read === null || newer === null) {
    return new Set();
  }
  const before = new Map(read.partitions.map((each) => [keyOf(each), effectOf(each)]));
  return new Set(
    newer.partitions
      .filter((each) => before.get(keyOf(each)) !== effectOf(each))
      .map((each) => keyOf(each)),
  );
}

export function keyOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}:${partition}`;
}

function effectOf({ from, to, skipped, lost, repeated }: MovedPartition): string {
  return [from, to, skipped, lost, repeated].join(" ");
}

/** The records that are skipped, lost and read again in all partitions. */
export function totalsOf({ partitions }: Preview): Totals {
  const sum = (name: keyof Totals) =>
    partitions.reduce((total, each) => total + BigInt(each[name]), 0n);
  return { skipped: sum("skipped"), lost: sum("lost"), repeated: sum("repeated") };
}

/** Says that offsets which were given change nothing; null: they do, or none were given. */
export function idleOf({ kind }: Target, { partitions }: Preview): string | null {
  const isIdle = partitions.every((each) => each.from === each.to && !each.recreated);
  return kind === "offsets" && isIdle
    ? "Nothing changes: each of these offsets is the committed one."
    : null;
}

/** What has to be typed: the number of records that are not read, or are read again; null: none is. */
export function confirmOf({ skipped, lost, repeated }: Totals): Confirm | null {
  const all = skipped + lost + repeated;
  return all === 0n
    ? null
    : { number: String(all), what: "records are skipped, lost or read again" };
}

/** The command line that does the same. */
export function commandOf(id: string, target: Target): string {
  return `tidegate supervisor reset ${quoted(id)}${placeOf(target)}`;
}

function placeOf(target: Target): string {
  switch (target.kind) {
    case "end":
      return ` --begin ${target.to}`;
    case "beside":
      return " --to-latest --backfill";
    case "find":
      return ` --at ${target.at}`;
    case "shift":
      return ` --shift=${target.by}`;
    case "offsets":
      return optionsOf(target.offsets);
  }
}

function optionsOf(offsets: NextOffsets): string {
  return Object.entries(offsets)
    .map(([name, offset]) => ` --offset ${quoted(`${name}=${offset}`)}`)
    .join("");
}

export type Undo = { words: string; command: string | null };

/** How a reset is undone, as far as it can be. */
export function undoOf(id: string, stream: string | null, preview: Preview): Undo {
  const { lost, repeated } = totalsOf(preview);
  const before: Record<string, Exact> = {};
  for (const each of preview.partitions) {
    if (each.from !== null && each.from !== each.to && !each.recreated) {
      before[each.topic === stream ? String(each.partition) : keyOf(each)] = each.from;
    }
  }
  const lasting = [
    lost > 0n ? "What Kafka has deleted stays lost." : "",
    repeated > 0n ? "Rows that were published a second time until then stay in the table." : "",
  ].filter((sentence) => sentence !== "");
  if (Object.keys(before).length === 0) {
    return { words: ["There is nothing to set back.", ...lasting].join(" "), command: null };
  }
  return {
    words: ["Set the offsets back.", ...lasting].join(" "),
    command: `tidegate supervisor reset ${quoted(id)}${optionsOf(before)}`,
  };
}
