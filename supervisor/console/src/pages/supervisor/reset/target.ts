import type { Exact } from "@/api/json";
import { readJson } from "@/api/json";
import type { DialogSearch, Place } from "../search";

/** Partition, as the status names it -> its next offset. */
export type NextOffsets = Readonly<Record<string, Exact>>;

/** Where to begin, as far as the person has filled it in. */
export type Form = {
  place: Place | undefined;
  /** A moment, as ISO 8601. */
  at: string;
  shift: string;
  /** Partition -> digits; an empty text: it stays where it is. */
  offsets: Readonly<Record<string, string>>;
  json: string;
};

/** A place that is complete. */
export type Target =
  | { kind: "end"; to: "earliest" | "latest" }
  | { kind: "beside" }
  | { kind: "find"; at: string }
  | { kind: "shift"; by: bigint }
  | { kind: "offsets"; offsets: NextOffsets };

/** What a form wants, or what it lacks. */
export type Judged = { target: Target } | { lack: string };

const MOST = 9_223_372_036_854_775_807n;
const DIGITS = /^\d{1,19}$/;

/** Returns the form that an address fills in. */
export function formOf({ to, at, shift, offset }: DialogSearch): Form {
  const pairs = (offset ?? []).map((text) => splitAtLast(text, "="));
  return {
    place: to ?? (pairs.length > 0 ? "offsets" : undefined),
    at: at !== undefined && !Number.isNaN(Date.parse(at)) ? at : "",
    shift: shift ?? "",
    offsets: Object.fromEntries(pairs),
    json: "",
  };
}

/** Returns the address of a form; pasted JSON is kept out of it. */
export function searchOf({ place, at, shift, offsets }: Form): DialogSearch {
  const named = Object.entries(offsets).filter(([, digits]) => DIGITS.test(digits));
  return {
    do: "reset",
    to: place,
    at: place === "time" && at !== "" ? at : undefined,
    shift: place === "shift" && shift !== "" ? shift : undefined,
    offset: place === "offsets" ? named.map(([name, digits]) => `${name}=${digits}`) : undefined,
  };
}

/** Says where a form leads. */
export function judge(form: Form): Judged {
  switch (form.place) {
    case undefined:
      return { lack: "Choose where to begin." };
    case "earliest":
    case "latest":
      return { target: { kind: "end", to: form.place } };
    case "beside":
      return { target: { kind: "beside" } };
    case "time":
      return form.at === ""
        ? { lack: "Choose a time." }
        : { target: { kind: "find", at: new Date(form.at).toISOString() } };
    case "shift":
      return judgeShift(form.shift);
    case "offsets":
      return judgeOffsets(
        Object.entries(form.offsets).filter(([, digits]) => digits.trim() !== ""),
      );
    case "json":
      return judgeJson(form.json);
  }
}

function judgeShift(text: string): Judged {
  const digits = text.replaceAll(/[ ,]/g, "").replace("−", "-");
  if (!/^[+-]?\d{1,19}$/.test(digits) || BigInt(digits) === 0n) {
    return { lack: "Give a number of records: below 0 it goes back, above 0 it goes on." };
  }
  const by = BigInt(digits);
  return by > MOST || by < -MOST
    ? { lack: "A shift is at most 9,223,372,036,854,775,807 records, on or back." }
    : { target: { kind: "shift", by } };
}

function judgeOffsets(entries: readonly [string, string][]): Judged {
  if (entries.length === 0) {
    return { lack: "Give the next offset of at least one partition." };
  }
  const offsets: Record<string, Exact> = {};
  for (const [name, text] of entries) {
    const digits = text.replaceAll(/[ ,]/g, "");
    if (!DIGITS.test(digits) || BigInt(digits) > MOST) {
      return { lack: `Partition ${name}: ${text} is no offset.` };
    }
    offsets[name] = exactOf(digits);
  }
  return { target: { kind: "offsets", offsets } };
}

/** Takes {"0": 100}, and Druid's form with it inside. */
function judgeJson(text: string): Judged {
  if (text.trim() === "") {
    return { lack: 'Paste {"partition": offset, …}, or the body of a resetOffsets of Druid.' };
  }
  let value: unknown;
  try {
    value = readJson(text);
  } catch (error) {
    return { lack: `This is no JSON: ${error instanceof Error ? error.message : "?"}` };
  }
  const inner = memberOf(value, "partitions");
  const map =
    memberOf(inner, "partitionOffsetMap") ?? memberOf(inner, "partitionSequenceNumberMap") ?? value;
  if (typeof map !== "object" || map === null || Array.isArray(map)) {
    return { lack: 'This is no object of the form {"partition": offset}.' };
  }
  return judgeOffsets(Object.entries(map).map(([name, offset]) => [name, String(offset)]));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function exactOf(digits: string): Exact {
  const value = BigInt(digits);
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? value : Number(value);
}

function splitAtLast(text: string, sign: string): [string, string] {
  const at = text.lastIndexOf(sign);
  return [text.slice(0, at), text.slice(at + 1)];
}
