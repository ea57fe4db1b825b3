import type { Exact } from "@/api/json";
import { exact } from "./numbers";

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;
const STEP = 1_000;
const WHOLE_FROM = 100;

/** Writes bytes so that they can be read at a glance: 512 B, 1.2 kB, 391 MB. */
export function bytes(value: Exact): string {
  let size = Number(value);
  let unit = 0;
  // What rounds to 1,000 of a unit is 1 of the next.
  while (size >= STEP - 0.5 && unit < UNITS.length - 1) {
    size /= STEP;
    unit += 1;
  }
  const rounded = unit === 0 || size >= WHOLE_FROM ? Math.round(size) : Math.round(size * 10) / 10;
  return `${exact(rounded)} ${UNITS[unit]}`;
}
