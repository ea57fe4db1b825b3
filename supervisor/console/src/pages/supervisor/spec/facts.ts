import { writeJson } from "@/api/json";
import { known } from "@/text/known";
import { visible } from "@/text/visible";
import { partsOf } from "./document/pointer";
import type { Effect, Schema } from "./document/schema";

/** What a change of a field does to what runs, in words. */
export const EFFECTS: Readonly<Record<Effect, string>> = {
  hot: "Holds at once; nothing that runs is touched.",
  "restart-supervisor": "The supervisor stops or starts; ranges hand off and publish.",
  "restart-tasks": "Running ranges hand off and publish; tasks with the new spec go on there.",
};

const SHOWN_MAX = 160;

/** Writes a pointer into a spec as people name the field: ioConfig.taskDuration. */
export function fieldName(pointer: string): string {
  const parts = partsOf(pointer);
  return (parts[0] === "spec" && parts.length > 1 ? parts.slice(1) : parts).join(".");
}

/** Writes a value in one line, cut where it is long; undefined: the field is not there. */
export function shown(value: unknown): string {
  if (value === undefined) {
    return "not there";
  }
  const text = visible(writeJson(value));
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

/** What the schema has of a field, a fact a line: title, meaning, unit, default, effect, its page. */
export function factsOf(schema: Schema): string[] {
  const { title = "", description, "x-tidegate-effect": effect } = schema;
  const { "x-tidegate-unit": unit, "x-tidegate-doc": page } = schema;
  return [
    title,
    ...(description === undefined ? [] : [description]),
    ...(unit === undefined ? [] : [`Unit: ${unit}`]),
    ...("default" in schema ? [`Default: ${shown(schema.default)}`] : []),
    ...(effect === undefined ? [] : [`${effect}: ${known(EFFECTS, effect) ?? ""}`]),
    ...(page === undefined ? [] : [page]),
  ];
}
