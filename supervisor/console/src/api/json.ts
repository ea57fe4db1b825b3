import { isInteger, isSafeNumber, parse, stringify } from "lossless-json";

/** A count, an offset or an id: a bigint where a number would lose digits. */
export type Exact = number | bigint;

/**
 * Reads JSON without losing digits: offsets and user data are 64 bit, and numbers are exact up to
 * 2^53 only.
 */
export function readJson(text: string): unknown {
  return parse(text, null, toNumber);
}

function toNumber(digits: string): Exact {
  if (isInteger(digits) && !isSafeNumber(digits)) {
    return BigInt(digits);
  }
  return Number.parseFloat(digits);
}

/** Writes JSON; a bigint becomes its digits. */
export function writeJson(value: unknown): string {
  return stringify(value) ?? "null";
}

/** Writes JSON for people, on many lines. */
export function prettyJson(value: unknown): string {
  return stringify(value, null, 2) ?? "null";
}
