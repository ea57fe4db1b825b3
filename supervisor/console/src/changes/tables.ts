import type { Action } from "@/components/action/action";
import { counted } from "@/text/numbers";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { previewedOf, sendingOf } from "./change";

export const MARK_UNUSED = "/druid/indexer/v1/datasources/{data_source}/markUnused";
export const MARK_USED = "/druid/indexer/v1/datasources/{data_source}/markUsed";
/** DELETE takes all files out, POST puts all back. */
export const ALL_FILES = "/druid/indexer/v1/datasources/{data_source}";
export const COMPACT = "/api/v1/datasources/{data_source}/compact";
export const CANCEL_COMPACTION = "/api/v1/compactions/{compaction}/cancel";

/** Files of a table: those wholly inside an interval (`start/end` in ISO 8601), or those with ids. */
export type Which = { interval: string } | { segmentIds: readonly string[] };

/** What to compact; what is left out is as the spec has it. */
export type Compacting = {
  interval?: string;
  targetRows?: number;
  targetBytes?: number;
  filesMin?: number;
};

/** The dialog that takes files out of their table. */
export function markUnusedOf(table: string, which: Which): Action {
  const name = visible(table);
  return {
    ...previewedOf("post", MARK_UNUSED, { at: { data_source: table }, body: which }),
    title: `Take ${filesOf(which)} out of ${name}`,
    verb: "Take out",
    effect: "The files leave the table at once; they are deleted after the time of grace.",
    undo: "Put them back within the time of grace.",
    command: `tidegate segment mark-unused ${quoted(table)}${optionsOf(which)}`,
    done: `The files leave ${name}.`,
  };
}

/** The dialog that puts files back into their table. */
export function markUsedOf(table: string, which: Which): Action {
  const name = visible(table);
  return {
    ...previewedOf("post", MARK_USED, { at: { data_source: table }, body: which }),
    title: `Put ${filesOf(which)} back into ${name}`,
    verb: "Put back",
    effect: "The files are part of the table again, unless their time of grace is over.",
    undo: "Take them out again.",
    command: `tidegate segment mark-used ${quoted(table)}${optionsOf(which)}`,
    done: `The files are part of ${name} again.`,
  };
}

/** The dialog that takes all files out of a table. */
export function dropOf(table: string): Action {
  const name = visible(table);
  return {
    ...previewedOf("delete", ALL_FILES, { at: { data_source: table } }),
    title: `Drop all rows of ${name}`,
    verb: "Drop",
    effect: "All files leave the table at once; they are deleted after the time of grace.",
    undo: "Put them back within the time of grace.",
    command: `tidegate segment mark-unused ${quoted(table)} --all`,
    done: `The files leave ${name}.`,
  };
}

/** The dialog that puts all files back whose time of grace is not over. */
export function putBackOf(table: string): Action {
  const name = visible(table);
  return {
    ...previewedOf("post", ALL_FILES, { at: { data_source: table } }),
    title: `Put all files back into ${name}`,
    verb: "Put back",
    effect: "All files whose time of grace is not over are part of the table again.",
    undo: "Take them out again.",
    command: `tidegate segment mark-used ${quoted(table)} --all`,
    done: `The files are part of ${name} again.`,
  };
}

/** The dialog that joins small files of a table. */
export function compactOf(table: string, compacting: Compacting = {}): Action {
  const name = visible(table);
  const { interval, targetRows, targetBytes, filesMin } = compacting;
  const options = [
    interval === undefined ? "" : ` --interval ${quoted(interval)}`,
    targetRows === undefined ? "" : ` --target-rows ${targetRows}`,
    targetBytes === undefined ? "" : ` --target-bytes ${targetBytes}`,
    filesMin === undefined ? "" : ` --files-min ${filesMin}`,
  ];
  return {
    ...previewedOf("post", COMPACT, { at: { data_source: table }, body: compacting }),
    title: `Compact ${name}`,
    verb: "Compact",
    effect: "Small files become fewer large ones with the same rows.",
    undo: "Cannot be undone once it has ended; no row is lost.",
    command: `tidegate compaction run ${quoted(table)}${options.join("")}`,
    done: `The compaction of ${name} has begun.`,
  };
}

/** The dialog that gives up a compaction that waits or runs. */
export function cancelCompactionOf(compaction: string): Action {
  const name = visible(compaction);
  return {
    ...sendingOf("post", CANCEL_COMPACTION, { at: { compaction } }),
    title: `Give up the compaction ${name}`,
    verb: "Give up",
    effect: "Its files stay as they are.",
    undo: "Compact the table again.",
    command: `tidegate compaction cancel ${quoted(compaction)}`,
    done: `The compaction ${name} is given up.`,
  };
}

function filesOf(which: Which): string {
  return "interval" in which
    ? `the files of ${visible(which.interval)}`
    : counted(which.segmentIds.length, "file");
}

function optionsOf(which: Which): string {
  return "interval" in which
    ? ` --interval ${quoted(which.interval)}`
    : which.segmentIds.map((id) => ` --id ${quoted(id)}`).join("");
}
