import { pointerOf } from "./pointer";

export type JsonObject = { [name: string]: unknown };

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two values are the same JSON; the order of names does not count. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((each, index) => isSame(each, other[index]));
  }
  if (isObject(one) && isObject(other)) {
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
    );
  }
  return Object.is(one, other);
}

/** Returns the names of objects, each once, in the order in which they come. */
export function namesOf(...values: readonly unknown[]): string[] {
  return [...new Set(values.filter(isObject).flatMap((value) => Object.keys(value)))];
}

/** A field of several documents; undefined: the document lacks it. */
export type Field = { pointer: string; values: unknown[] };

/**
 * Returns the fields in which documents differ.  A list is one value: what its entries are to each
 * other is not known.
 */
export function differing(documents: readonly unknown[], parts: readonly string[] = []): Field[] {
  const [first, ...others] = documents;
  if (others.every((each) => isSame(first, each))) {
    return [];
  }
  if (documents.every(isObject)) {
    return namesOf(...documents).flatMap((name) =>
      differing(
        documents.map((each) => (Object.hasOwn(each, name) ? each[name] : undefined)),
        [...parts, name],
      ),
    );
  }
  return [{ pointer: pointerOf(parts), values: [...documents] }];
}
