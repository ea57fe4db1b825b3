import type { Exact } from "@/api/json";

/** What is not known; the reason stands beside it, or in its title. */
export const UNKNOWN = "–";

const STEPS = [
  ["T", 1_000_000_000_000n],
  ["G", 1_000_000_000n],
  ["M", 1_000_000n],
  ["k", 1_000n],
] as const;
/** Below this a number is shown whole. */
const WHOLE_BELOW = 10_000n;

/** Writes each digit, in groups: 1,204. */
export function exact(value: Exact): string {
  return value.toLocaleString("en-GB", { maximumFractionDigits: 1 });
}

/** Writes a count so that it can be read at a glance: 1,204, 12 k, 1.2 M. */
export function short(value: Exact): string {
  const whole = typeof value === "bigint" ? value : BigInt(Math.trunc(value));
  const size = whole < 0n ? -whole : whole;
  const step = size < WHOLE_BELOW ? undefined : STEPS.find(([, each]) => size >= each);
  if (step === undefined) {
    return exact(typeof value === "number" && size >= 100n ? Math.round(value) : value);
  }
  const [unit, factor] = step;
  const tenths = size / (factor / 10n);
  const text =
    tenths < 100n && tenths % 10n > 0n ? `${tenths / 10n}.${tenths % 10n}` : `${tenths / 10n}`;
  return `${whole < 0n ? "−" : ""}${text} ${unit}`;
}

/** Writes a number with its noun: "1 worker", "3 workers". */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${exact(value)} ${value === 1 ? noun : plural}`;
}
