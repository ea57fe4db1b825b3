import { stringify } from "lossless-json";
import { partsOf } from "./pointer";
import { follow, type JsonNode, memberIn, treeOf } from "./tree";

/** A change of a text: what is between two offsets becomes another text. */
export type Edit = { from: number; to: number; insert: string };

/** Returns a text after a change; null: it stays. */
export function applied(text: string, edit: Edit | null): string {
  return edit === null ? text : text.slice(0, edit.from) + edit.insert + text.slice(edit.to);
}

/** Writes a value as JSON, of several lines, each digit of it kept. */
export function written(value: unknown): string {
  return stringify(value, null, 2) ?? "null";
}

/**
 * Puts a value, as JSON, at a pointer.  All else stays as it is written: order, spaces, numbers.
 * Objects on the way are made.  Null: a list or a value is in the way.
 */
export function setValue(text: string, pointer: string, json: string): Edit | null {
  let node = treeOf(text);
  if (node === null) {
    return null;
  }
  const parts = partsOf(pointer);
  for (const [index, part] of parts.entries()) {
    const next = childOf(node, part);
    if (next === null) {
      return inserted(text, node, part, nested(parts.slice(index + 1), json));
    }
    node = next;
  }
  return { from: node.from, to: node.to, insert: indented(json, indentAt(text, node.from)) };
}

function childOf(node: JsonNode, part: string): JsonNode | null {
  return (
    memberIn(node, part)?.value ?? (node.kind === "array" ? node.items[Number(part)] : null) ?? null
  );
}

/** The JSON of a value inside of objects that are to be made. */
function nested(parts: readonly string[], json: string): string {
  return parts.reduceRight(
    (inner, part) => `{\n  ${JSON.stringify(part)}: ${indented(inner, "  ")}\n}`,
    json,
  );
}

function inserted(text: string, node: JsonNode, name: string, json: string): Edit | null {
  const key = JSON.stringify(name);
  if (node.kind === "word" && text.slice(node.from, node.to) === "null") {
    const whole = `{\n  ${key}: ${indented(json, "  ")}\n}`;
    return { from: node.from, to: node.to, insert: indented(whole, indentAt(text, node.from)) };
  }
  if (node.kind !== "object") {
    return null;
  }
  const broken = memberIn(node, name);
  if (broken !== undefined) {
    return { from: broken.to, to: broken.to, insert: `: ${json}` };
  }
  const last = node.members.at(-1);
  if (last === undefined) {
    const indent = indentAt(text, node.from);
    const insert = `{\n${indent}  ${key}: ${indented(json, `${indent}  `)}\n${indent}}`;
    return { from: node.from, to: node.to, insert };
  }
  const end = last.value?.to ?? last.to;
  if (!text.slice(node.from, node.to).includes("\n")) {
    return { from: end, to: end, insert: `, ${key}: ${json.replaceAll(/\n\s*/g, " ")}` };
  }
  const indent = indentAt(text, last.from);
  return { from: end, to: end, insert: `,\n${indent}${key}: ${indented(json, indent)}` };
}

/** Takes the member at a pointer out, with its comma. */
export function removeValue(text: string, pointer: string): Edit | null {
  const around = placeOf(text, pointer);
  if (around === null) {
    return null;
  }
  const { parent, index } = around;
  const [before, here, after] = [
    parent.members[index - 1],
    parent.members[index],
    parent.members[index + 1],
  ];
  if (here === undefined) {
    return null;
  }
  if (after !== undefined) {
    return { from: here.from, to: after.from, insert: "" };
  }
  const end = here.value?.to ?? here.to;
  return before === undefined
    ? { from: parent.from, to: parent.to, insert: "{}" }
    : { from: before.value?.to ?? before.to, to: end, insert: "" };
}

/** Gives the member at a pointer another name; null: there is none, or the name is taken. */
export function renameMember(text: string, pointer: string, name: string): Edit | null {
  const around = placeOf(text, pointer);
  const member = around?.parent.members[around.index];
  if (around === null || member === undefined || memberIn(around.parent, name) !== undefined) {
    return null;
  }
  return { from: member.from, to: member.to, insert: JSON.stringify(name) };
}

function placeOf(text: string, pointer: string): { parent: JsonNode; index: number } | null {
  const root = treeOf(text);
  const name = partsOf(pointer).at(-1);
  if (root === null || name === undefined) {
    return null;
  }
  const { node, isThere } = follow(root, pointer.slice(0, pointer.lastIndexOf("/")));
  const index = node.members.findLastIndex((member) => member.name === name);
  return isThere && index >= 0 ? { parent: node, index } : null;
}

/** The spaces at the beginning of the line of an offset. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function indented(json: string, indent: string): string {
  return json.replaceAll("\n", `\n${indent}`);
}
