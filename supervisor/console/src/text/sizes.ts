import type { Exact } from "@/api/json";

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"] as const;
const STEP = 1_024;

/** Writes a number of bytes: 812 B, 1.2 KB, 64 MB. */
export function size(bytes: Exact): string {
  let value = Number(bytes);
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  const text = unit === 0 || value >= 10 ? String(Math.floor(value)) : value.toFixed(1);
  return `${text} ${UNITS[unit]}`;
}
