import { jsonLanguage } from "@codemirror/lang-json";
import { partsOf } from "./pointer";

/** A value of a JSON text with its place; also of a text that has errors, as far as it goes. */
export type JsonNode = {
  kind: "object" | "array" | "string" | "number" | "word";
  from: number;
  to: number;
  members: Member[];
  items: JsonNode[];
};

/** A name of an object with its value; null: none is written yet. */
export type Member = { name: string; from: number; to: number; value: JsonNode | null };

export type Range = { from: number; to: number };

type Syntax = ReturnType<typeof jsonLanguage.parser.parse>["topNode"];

const KINDS: Readonly<Record<string, JsonNode["kind"]>> = {
  Object: "object",
  Array: "array",
  String: "string",
  Number: "number",
  True: "word",
  False: "word",
  Null: "word",
};

/** Reads where each value of a text lies; null: there is no value in it. */
export function treeOf(text: string): JsonNode | null {
  const top = jsonLanguage.parser.parse(text).topNode;
  return childrenOf(top).map((node) => nodeOf(node, text))[0] ?? null;
}

function nodeOf(syntax: Syntax, text: string): JsonNode {
  const node: JsonNode = {
    kind: KINDS[syntax.name] ?? "word",
    from: syntax.from,
    to: syntax.to,
    members: [],
    items: [],
  };
  if (node.kind === "object") {
    node.members = allOf(syntax)
      .filter(({ name }) => name === "Property")
      .flatMap((each) => memberOf(each, text));
  }
  if (node.kind === "array") {
    node.items = childrenOf(syntax).map((each) => nodeOf(each, text));
  }
  return node;
}

function memberOf(property: Syntax, text: string): Member[] {
  const key = property.getChild("PropertyName");
  if (key === null) {
    return [];
  }
  const value = childrenOf(property)[0];
  const name = nameOf(text.slice(key.from, key.to));
  return [
    { name, from: key.from, to: key.to, value: value === undefined ? null : nodeOf(value, text) },
  ];
}

function childrenOf(syntax: Syntax): Syntax[] {
  return allOf(syntax).filter(({ name }) => name in KINDS);
}

function allOf(syntax: Syntax): Syntax[] {
  const all: Syntax[] = [];
  for (let child = syntax.firstChild; child !== null; child = child.nextSibling) {
    all.push(child);
  }
  return all;
}

function nameOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.replaceAll('"', "");
  }
}

/** What a pointer leads to: the member that holds it, its value, and whether it is there at all. */
export type Found = { member: Member | null; node: JsonNode; isThere: boolean };

/** Follows a pointer as far as it goes. */
export function follow(root: JsonNode, pointer: string): Found {
  let at: Found = { member: null, node: root, isThere: true };
  for (const part of partsOf(pointer)) {
    const member = memberIn(at.node, part);
    const item = at.node.kind === "array" ? at.node.items[Number(part)] : undefined;
    const value = member?.value ?? item;
    if (value === undefined) {
      return member === undefined
        ? { ...at, isThere: false }
        : { member, node: at.node, isThere: true };
    }
    at = { member: member ?? null, node: value, isThere: true };
  }
  return at;
}

/** Returns the member of a name; of several the last one, which counts. */
export function memberIn(node: JsonNode, name: string): Member | undefined {
  return node.members.findLast((member) => member.name === name);
}

/**
 * Returns what to mark for a pointer: the name of what is not known, the value of what is wrong,
 * the name of the object in which something is missing.
 */
export function markOf(root: JsonNode, pointer: string, isName: boolean): Range {
  const { member, node, isThere } = follow(root, pointer);
  if (member !== null && (isName || !isThere || node.kind === "object" || node.kind === "array")) {
    return { from: member.from, to: member.to };
  }
  return node.kind === "object" ? { from: node.from, to: node.from + 1 } : node;
}

/** Where a place of the text is: the way to it, and what stands there. */
export type Spot = {
  /** The way to the object or list around it. */
  parts: string[];
  /** The member at the place; null: none. */
  member: Member | null;
  /** Whether the place is in its name. */
  isName: boolean;
};

/** Returns where an offset of the text is. */
export function spotOf(root: JsonNode, offset: number): Spot {
  const parts: string[] = [];
  let node = root;
  for (;;) {
    const within = inside(node, offset);
    if (within === null) {
      return { parts, member: null, isName: false };
    }
    const { name, value, member } = within;
    if (member !== null && (value === null || !isAround(value, offset))) {
      return { parts, member, isName: offset <= member.to };
    }
    if (value === null) {
      return { parts, member: null, isName: false };
    }
    parts.push(name);
    node = value;
  }
}

type Within = { name: string; value: JsonNode | null; member: Member | null };

function inside(node: JsonNode, offset: number): Within | null {
  for (const member of node.members) {
    if (offset >= member.from && offset <= (member.value?.to ?? member.to + 2)) {
      return { name: member.name, value: member.value, member };
    }
  }
  const index = node.items.findIndex(({ from, to }) => offset >= from && offset <= to);
  const item = node.items[index];
  return item === undefined || !isAround(item, offset)
    ? null
    : { name: String(index), value: item, member: null };
}

function isAround(node: JsonNode, offset: number): boolean {
  const isOpen = node.kind === "object" || node.kind === "array";
  return isOpen && offset > node.from && offset < node.to;
}
