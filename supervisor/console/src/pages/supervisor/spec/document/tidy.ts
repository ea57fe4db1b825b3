import { written } from "./edit";
import { isObject, isSame, type JsonObject } from "./values";

const SECTIONS = ["dataSchema", "ioConfig", "tuningConfig"];
/** Druid's second names, which GET writes beside the first ones. */
const ALIASES = { stream: "topic", useEarliestSequenceNumber: "useEarliestOffset" };

/**
 * Writes a spec, as GET answers it, for people: each field once.  GET writes the sections twice,
 * nested and flat, for clients of either form; and a POST refuses copies that differ.
 */
export function tidied(document: unknown): string {
  if (!isObject(document) || !isObject(document.spec)) {
    return written(document);
  }
  const { spec } = document;
  const whole = without(
    document,
    (name, value) => SECTIONS.includes(name) && isSame(value, spec[name]),
  );
  const io = spec.ioConfig;
  const inner = isObject(io) ? { ...spec, ioConfig: withoutAliases(io) } : spec;
  return written({ ...whole, spec: inner });
}

function withoutAliases(io: JsonObject): JsonObject {
  const firsts: Readonly<Record<string, string>> = ALIASES;
  return without(io, (name, value) => {
    const first = firsts[name];
    return first !== undefined && isSame(value, io[first] ?? null);
  });
}

function without(object: JsonObject, isLeftOut: (name: string, value: unknown) => boolean) {
  const kept = Object.entries(object).filter(([name, value]) => !isLeftOut(name, value));
  return Object.fromEntries(kept);
}

/** Where the sections of a document are: below `/spec`, or at its top. */
export function baseOf(document: unknown): "/spec" | "" {
  const isFlat =
    isObject(document) && !isObject(document.spec) && SECTIONS.some((name) => name in document);
  return isFlat ? "" : "/spec";
}
