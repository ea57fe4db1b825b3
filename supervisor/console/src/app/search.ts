/**
 * The query part of a URL: plain words, a list by repeating its name.  `?state=RUNNING&state=IDLE`.
 * Each page checks what it takes from it; anything may stand in a URL.
 */
export type RawSearch = Record<string, string | string[] | undefined>;

const PLAIN = { enumerable: true, configurable: true, writable: true };

export function parseSearch(text: string): RawSearch {
  const search: RawSearch = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = Object.hasOwn(search, name) ? search[name] : undefined;
    const all = before === undefined ? value : [before, value].flat();
    // An assignment to __proto__ would change what the search inherits.
    Object.defineProperty(search, name, { value: all, ...PLAIN });
  }
  return search;
}

export function writeSearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") {
        parameters.append(name, String(each));
      }
    }
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** Returns a parameter's text; of several the first. */
export function textIn(search: RawSearch, name: string): string | undefined {
  const value = Object.hasOwn(search, name) ? search[name] : undefined;
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined || first === "" ? undefined : String(first);
}

/** Returns all values of a parameter. */
export function listIn(search: RawSearch, name: string): string[] {
  const value = Object.hasOwn(search, name) ? search[name] : undefined;
  return value === undefined ? [] : [value].flat().map(String);
}
