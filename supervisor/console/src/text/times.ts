import type { Exact } from "@/api/json";

export type Zone = "local" | "utc";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Writes a span of time by its two largest units: 41 s, 14 m 02 s, 3 h 10 m, 3 d 4 h.  A long one
 * may be a bigint, as every number of an answer; its last digits do not show.
 */
export function span(millis: Exact): string {
  const size = Math.max(0, Number(millis));
  if (size < SECOND) {
    return `${Math.round(size)} ms`;
  }
  if (size < 10 * SECOND) {
    return `${(Math.floor(size / 100) / 10).toFixed(1)} s`;
  }
  if (size < MINUTE) {
    return `${Math.floor(size / SECOND)} s`;
  }
  if (size < HOUR) {
    return pair(size, MINUTE, "m", SECOND, "s");
  }
  return size < 2 * DAY ? pair(size, HOUR, "h", MINUTE, "m") : pair(size, DAY, "d", HOUR, "h");
}

function pair(size: number, large: number, name: string, small: number, next: string): string {
  const rest = Math.floor((size % large) / small);
  const padded = large === DAY ? String(rest) : String(rest).padStart(2, "0");
  return `${Math.floor(size / large)} ${name} ${padded} ${next}`;
}

/** Writes an age by its largest unit: now, 41 s, 14 m, 3 h, 3 d. */
export function age(millis: number): string {
  const size = Math.max(0, millis);
  if (size < 2 * SECOND) {
    return "now";
  }
  const [unit, name] =
    size < MINUTE
      ? [SECOND, "s"]
      : size < HOUR
        ? [MINUTE, "m"]
        : size < 2 * DAY
          ? [HOUR, "h"]
          : [DAY, "d"];
  return `${Math.floor(size / unit)} ${name}`;
}

/** Writes an age as words in a sentence: just now, 41 s ago, 14 m ago. */
export function ago(millis: number): string {
  const text = age(millis);
  return text === "now" ? "just now" : `${text} ago`;
}

/** Writes the time of day, in a zone. */
export function clock(at: Date, zone: Zone): string {
  return format(at, zone, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** Writes day and time, for lists that go back for days. */
export function stamp(at: Date, zone: Zone): string {
  const day = format(at, zone, { day: "numeric", month: "short" });
  return `${day} ${clock(at, zone)}`;
}

/** Writes the time of day to the millisecond, in a zone. */
export function preciseClock(at: Date, zone: Zone): string {
  return `${clock(at, zone)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** Writes day, time and the name of the zone. */
export function moment(at: Date, zone: Zone): string {
  return format(at, zone, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
}

/** The name of the browser's zone, such as Europe/Berlin. */
export function localZone(): string {
  return new Intl.DateTimeFormat("en-GB").resolvedOptions().timeZone;
}

function format(at: Date, zone: Zone, options: Intl.DateTimeFormatOptions): string {
  const inZone = zone === "utc" ? { ...options, timeZone: "UTC" } : options;
  return new Intl.DateTimeFormat("en-GB", { ...inZone, hourCycle: "h23" }).format(at);
}
