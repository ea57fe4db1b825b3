import type { Zone } from "@/text/times";

const MINUTE_MS = 60_000;
const SECONDS_SIGNS = 19;

/** Writes a moment for an input of day and time, in a zone; nothing for what is no moment. */
export function inputOf(iso: string, zone: Zone): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) {
    return "";
  }
  const shift = zone === "utc" ? 0 : new Date(at).getTimezoneOffset() * MINUTE_MS;
  return new Date(at - shift).toISOString().slice(0, SECONDS_SIGNS);
}

/** Reads what an input of day and time holds, in a zone; nothing for what is no moment. */
export function isoOf(input: string, zone: Zone): string {
  const at = Date.parse(zone === "utc" ? `${input}Z` : input);
  return input === "" || Number.isNaN(at) ? "" : new Date(at).toISOString();
}
