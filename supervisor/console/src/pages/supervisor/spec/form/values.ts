import { type Edit, removeValue, setValue } from "../document/edit";
import { partsOf } from "../document/pointer";
import type { Schema } from "../document/schema";
import { describe } from "../document/schema";
import { follow, type JsonNode } from "../document/tree";

/** How a field is filled in. */
export type Kind = "flag" | "whole" | "text";

/** What a document has of a field. */
export type FieldState =
  | { is: "absent"; value: "" }
  | { is: "plain"; value: string }
  /** An object or a list, which is edited as JSON; `size`: its members or entries. */
  | { is: "nested"; value: ""; size: number; isList: boolean };

/** Reads a field's value as it is written, each digit of it. */
export function stateOf(text: string, root: JsonNode, pointer: string): FieldState {
  const { member, node, isThere } = follow(root, pointer);
  const written = text.slice(node.from, node.to);
  if (!isThere || member?.value === null || written === "null") {
    return { is: "absent", value: "" };
  }
  if (node.kind === "object" || node.kind === "array") {
    const size = node.members.length + node.items.length;
    return { is: "nested", value: "", size, isList: node.kind === "array" };
  }
  return { is: "plain", value: node.kind === "string" ? contentOf(written) : written };
}

/** Returns the change of a document that writes what was filled in; empty: the default holds. */
export function editOf(
  text: string,
  pointer: string,
  kind: Kind,
  input: string,
  schema: Schema | null,
): Edit | null {
  if (input === "") {
    const isNull = schema !== null && "default" in schema && schema.default === null;
    return isNull ? setValue(text, pointer, "null") : removeValue(text, pointer);
  }
  return setValue(text, pointer, jsonOf(kind, input));
}

/** Returns how a field is filled in, by the types that the schema has for it. */
export function kindOf(schema: Schema | null): Kind {
  const types = [schema?.type ?? []].flat();
  if (types.includes("boolean")) {
    return "flag";
  }
  return types.includes("integer") ? "whole" : "text";
}

/** What the schema has of a field; of a free object's member the effect of the object. */
export function schemaOf(
  whole: Schema | undefined,
  root: JsonNode,
  pointer: string,
  text: string,
): Schema | null {
  if (whole === undefined) {
    return null;
  }
  const parts = partsOf(pointer);
  const own = describe(whole, root, parts, text);
  if (own !== null) {
    return own;
  }
  const { "x-tidegate-effect": effect } = describe(whole, root, parts.slice(0, -1), text) ?? {};
  const title = parts.at(-1) ?? "";
  return effect === undefined ? { title } : { title, "x-tidegate-effect": effect };
}

function jsonOf(kind: Kind, input: string): string {
  if (kind === "flag" && /^(true|false)$/.test(input)) {
    return input;
  }
  if (kind === "whole" && /^-?\d{1,30}$/.test(input)) {
    return String(BigInt(input));
  }
  return JSON.stringify(input);
}

function contentOf(written: string): string {
  try {
    return String(JSON.parse(written));
  } catch {
    return written;
  }
}
