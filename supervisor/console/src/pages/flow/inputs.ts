import { readJson, writeJson } from "@/api/json";
import type { WrongField } from "@/api/problem";

/** An input of a flow, as its document declares it. */
export type FlowInput = {
  name: string;
  type: string;
  description: string;
  isRequired: boolean;
  /** Its default as text; undefined: it has none. */
  fallback: string | undefined;
};
/** Name of an input -> what its field holds. */
export type Texts = Readonly<Record<string, string>>;

const AS_TEXT = ["string", "date", "datetime"];
const INTEGER = /^-?\d{1,40}$/;
const NUMBER = /^-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,4})?$/;

/** Returns the inputs of a flow's document. */
export function inputsOf(document: unknown): FlowInput[] {
  const inputs = membersOf(document).inputs;
  return (Array.isArray(inputs) ? inputs : []).map((each) => {
    const { name, type, description, required, default: fallback } = membersOf(each);
    const kind = typeof type === "string" ? type : "string";
    return {
      name: typeof name === "string" ? name : "",
      type: kind,
      description: typeof description === "string" ? description : "",
      isRequired: required !== false,
      fallback: fallback === undefined || fallback === null ? undefined : textOf(kind, fallback),
    };
  });
}

/** What the fields hold at first: given values, else the defaults. */
export function textsOf(inputs: readonly FlowInput[], given: unknown): Record<string, string> {
  const values = membersOf(given);
  const pairs = inputs.map(({ name, type, fallback }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const text = value === undefined || value === null ? (fallback ?? "") : textOf(type, value);
    return [name, text] as const;
  });
  return Object.fromEntries(pairs);
}

/**
 * The inputs of a request. An empty field is not sent: its default holds. What does not fit its
 * type is sent as text, so that the overlord says what is wrong with it.
 */
export function valuesOf(inputs: readonly FlowInput[], texts: Texts): Record<string, unknown> {
  const pairs = inputs.flatMap(({ name, type }) => {
    const text = texts[name] ?? "";
    return text.trim() === "" ? [] : [[name, typedOf(type, text)] as const];
  });
  return Object.fromEntries(pairs);
}

/** What the overlord says of an input's field; undefined: nothing. */
export function wrongIn(name: string, errors: readonly WrongField[]): string | undefined {
  const own = errors.filter(({ pointer }) => pointer === `/inputs/${name}`);
  return own.length === 0
    ? undefined
    : own.map(({ message, hint }) => (hint === "" ? message : `${message}: ${hint}`)).join("; ");
}

/** What has to be written into a field, in words. */
export function hintOf({ type, isRequired, fallback, description }: FlowInput): string {
  const kinds: Record<string, string> = {
    date: "a date, such as 2026-11-25",
    datetime: "a time with its zone, such as 2026-11-25T04:00:00Z",
    list: "a list as JSON, such as [1, 2]",
    object: 'an object as JSON, such as {"a": 1}',
    integer: "a whole number",
    number: "a number",
    string: "text",
  };
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : type;
  const need = fallback !== undefined ? "has a default" : isRequired ? "required" : "may be empty";
  return [description, kind, need].filter((part) => part !== "").join(" · ");
}

function typedOf(type: string, text: string): unknown {
  const trimmed = text.trim();
  if (type === "string") {
    return text;
  }
  if (AS_TEXT.includes(type)) {
    return trimmed;
  }
  if (
    (type === "integer" && !INTEGER.test(trimmed)) ||
    (type === "number" && !NUMBER.test(trimmed))
  ) {
    return trimmed;
  }
  try {
    return readJson(trimmed);
  } catch {
    return trimmed;
  }
}

function textOf(type: string, value: unknown): string {
  return AS_TEXT.includes(type) && typeof value === "string" ? value : writeJson(value);
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
