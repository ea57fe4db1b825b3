import type { Zone } from "./times";

/** Writes a day: 5 Jan 2026. */
export function day(at: Date, zone: Zone): string {
  return written(at, zone, { year: "numeric", month: "short", day: "numeric" });
}

/** Writes a day with hour and minute: 5 Jan 2026, 14:30. */
export function minute(at: Date, zone: Zone): string {
  const hours = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return written(at, zone, { year: "numeric", month: "short", day: "numeric", ...hours });
}

/** Writes a span of time by its days, and by its hours within one day. */
export function spanOfDays(from: Date, to: Date, zone: Zone): string {
  const [first, last] = [day(from, zone), day(to, zone)];
  if (first !== last) {
    return `${first} – ${last}`;
  }
  const end = written(to, zone, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return `${minute(from, zone)} – ${end}`;
}

function written(at: Date, zone: Zone, options: Intl.DateTimeFormatOptions): string {
  const inZone = zone === "utc" ? { ...options, timeZone: "UTC" } : options;
  return new Intl.DateTimeFormat("en-GB", inZone).format(at);
}
