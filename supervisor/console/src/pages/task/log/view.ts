/** How grave a line is: a trace below a line is as grave as the line. */
export const LEVELS = ["all", "warnings", "errors"] as const;
export type Level = (typeof LEVELS)[number];

const OTHER = 0;
const WARNING = 1;
const ERROR = 2;
const LEAST: Record<Level, number> = { all: OTHER, warnings: WARNING, errors: ERROR };
const WORDS: Record<string, number> = { WARN: 1, WARNING: 1, ERROR: 2, CRITICAL: 2, FATAL: 2 };
const LINE = /^\S+ +(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b/;
const HITS_IN_A_LINE_MAX = 50;

/** Returns how grave each line is: 0, 1 for warnings, 2 for errors. */
export function gravities(lines: readonly string[]): Uint8Array {
  const found = new Uint8Array(lines.length);
  let now = OTHER;
  lines.forEach((line, index) => {
    const word = LINE.exec(line)?.[1];
    if (word !== undefined) {
      now = WORDS[word] ?? OTHER;
    } else if (!line.startsWith(" ") && line !== "") {
      now = OTHER;
    }
    found[index] = now;
  });
  return found;
}

/** Returns the indexes of the lines that are shown; null: all. */
export function shownAt(grave: Uint8Array, level: Level): readonly number[] | null {
  const least = LEAST[level];
  if (least === OTHER) {
    return null;
  }
  const shown: number[] = [];
  grave.forEach((each, index) => {
    if (each >= least) {
      shown.push(index);
    }
  });
  return shown;
}

/** Returns the places, among the shown lines, of those that have a text in them. */
export function hitsIn(
  lines: readonly string[],
  shown: readonly number[] | null,
  text: string,
): readonly number[] {
  const part = text.toLowerCase();
  const hits: number[] = [];
  if (part === "") {
    return hits;
  }
  const count = shown?.length ?? lines.length;
  for (let place = 0; place < count; place += 1) {
    const line = lines[shown === null ? place : (shown[place] ?? 0)] ?? "";
    if (line.toLowerCase().includes(part)) {
      hits.push(place);
    }
  }
  return hits;
}

/** Returns the places, among the shown lines, of the first and the last error; null: there is none. */
export function errorsIn(
  lines: readonly string[],
  grave: Uint8Array,
  shown: readonly number[] | null,
): { first: number; last: number } | null {
  const first = grave.indexOf(ERROR);
  if (first < 0) {
    return null;
  }
  let last = grave.lastIndexOf(ERROR);
  // Of an error with a trace the line that says what it is.
  while (last > first && !LINE.test(lines[last] ?? "")) {
    last -= 1;
  }
  const at = (index: number) => (shown === null ? index : shown.indexOf(index));
  return { first: at(first), last: at(last) };
}

/** A text in parts; every second one is a hit. */
export function partsOf(line: string, text: string): string[] {
  const part = text.toLowerCase();
  const lower = line.toLowerCase();
  // Few letters change their length with their case: such a line is shown without marks.
  if (part === "" || lower.length !== line.length) {
    return [line];
  }
  const parts: string[] = [];
  let from = 0;
  for (let hits = 0; hits < HITS_IN_A_LINE_MAX; hits += 1) {
    const at = lower.indexOf(part, from);
    if (at < 0) {
      break;
    }
    parts.push(line.slice(from, at), line.slice(at, at + part.length));
    from = at + part.length;
  }
  return [...parts, line.slice(from)];
}

/** The hit behind or before a place, round and round; null: there is none. */
export function nextHit(hits: readonly number[], place: number, step: 1 | -1): number | null {
  if (hits.length === 0) {
    return null;
  }
  const later = hits.findIndex((hit) => hit > place);
  if (step > 0) {
    return Math.max(later, 0);
  }
  const until = hits.findIndex((hit) => hit >= place);
  const before = (until < 0 ? hits.length : until) - 1;
  return before < 0 ? hits.length - 1 : before;
}

/** The number of the line that an address names: `L120`. */
export function lineOf(hash: string): number | null {
  const digits = /^#?L(\d{1,9})$/.exec(hash)?.[1];
  const number = digits === undefined ? 0 : Number(digits);
  return number > 0 ? number : null;
}

const MIB = 1_048_576;
const KIB = 1_024;

/** Writes which bytes of a log are loaded: "0–1.0 of 3.2 MiB". */
export function rangeOf({ from, to, size }: { from: number; to: number; size: number }): string {
  const [unit, name] = size >= MIB ? [MIB, "MiB"] : size >= KIB ? [KIB, "KiB"] : [1, "bytes"];
  const write = (bytes: number) =>
    unit === 1 || bytes === 0 ? String(bytes) : (bytes / unit).toFixed(1);
  return `${write(from)}–${write(to)} of ${write(size)} ${name}`;
}
