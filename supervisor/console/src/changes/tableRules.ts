import type { components } from "@/api/schema";
import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { previewedOf, sendingOf } from "./change";

export const RETENTION = "/api/v1/datasources/{data_source}/retention";
export const COMPACTION_RULE = "/api/v1/datasources/{data_source}/compaction";

export type WantedRule = components["schemas"]["WantedRule"];
type Effect = Action["effect"];

/**
 * The dialog that has a table keep its rows for a period (ISO 8601) and no longer.  The overlord
 * counts what leaves the table at once.
 */
export function keepForOf(table: string, keepFor: string): Action {
  const name = visible(table);
  return {
    ...previewedOf("put", RETENTION, { at: { data_source: table }, body: { keepFor } }),
    title: `How long ${name} keeps its rows`,
    verb: "Set the rule",
    effect: "Files whose whole interval is older are taken out, now and from now on.",
    undo: "Take the rule off, then put the files back within their time of grace.",
    command: `tidegate segment retention ${quoted(table)} --keep-for ${quoted(keepFor)}`,
    done: `${name} keeps its rows for ${keepFor}.`,
  };
}

/** The dialog that has a table keep its rows for ever. */
export function keepForeverOf(table: string): Action {
  const name = visible(table);
  return {
    ...previewedOf("delete", RETENTION, { at: { data_source: table } }),
    title: `Take the retention rule off ${name}`,
    verb: "Take the rule off",
    effect: "Nothing is taken out by its age any more. What was taken out is not put back by this.",
    undo: "Set the rule again.",
    command: `tidegate segment retention ${quoted(table)} --keep-forever`,
    done: `${name} keeps its rows for ever.`,
  };
}

/** The dialog that has a table compacted by itself. */
export function compactByItselfOf(table: string, rule: WantedRule, effect: Effect): Action {
  const name = visible(table);
  const { skipOffsetFromLatest = "P1D", targetRows, targetBytes, filesMin } = rule;
  const options = [
    ` --skip-latest ${quoted(skipOffsetFromLatest)}`,
    targetRows ? ` --target-rows ${targetRows}` : "",
    targetBytes ? ` --target-bytes ${targetBytes}` : "",
    filesMin === undefined ? "" : ` --files-min ${filesMin}`,
  ];
  return {
    ...sendingOf("put", COMPACTION_RULE, { at: { data_source: table }, body: rule }),
    title: `Compact ${name} by itself`,
    verb: "Set the rule",
    effect,
    undo: "Take the rule off. Files that were joined stay so; no row is lost.",
    command: `tidegate compaction rule ${quoted(table)}${options.join("")}`,
    done: `${name} is compacted by itself.`,
  };
}

/** The dialog that has a table compacted on request alone. */
export function compactOnRequestOf(table: string): Action {
  const name = visible(table);
  return {
    ...sendingOf("delete", COMPACTION_RULE, { at: { data_source: table } }),
    title: `Take the compaction rule off ${name}`,
    verb: "Take the rule off",
    effect: "It is compacted on request alone. Compactions that run go on.",
    undo: "Set the rule again.",
    command: `tidegate compaction rule ${quoted(table)} --off`,
    done: `${name} is compacted on request alone.`,
  };
}
