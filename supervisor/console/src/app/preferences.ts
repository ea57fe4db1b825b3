import { useSyncExternalStore } from "react";
import type { Zone } from "@/text/times";

/** What a person likes; kept in this browser. */
export type Preferences = {
  zone: Zone;
  density: "dense" | "roomy";
  /** Whether single keys, such as j and k, do something. */
  keys: boolean;
  /** Table -> columns that are hidden. */
  hidden: Readonly<Record<string, readonly string[]>>;
};

const KEY = "tidegate:preferences";
const FIRST: Preferences = { zone: "local", density: "dense", keys: true, hidden: {} };

const listeners = new Set<() => void>();
let current = read();

/** Returns the preferences of this browser. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Storage is switched off: they hold for this page.
  }
  for (const listener of listeners) {
    listener();
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Takes what is well-formed: anything may lie in the storage. */
function read(): Preferences {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>;
    return {
      zone: stored.zone === "utc" ? "utc" : FIRST.zone,
      density: stored.density === "roomy" ? "roomy" : FIRST.density,
      keys: stored.keys !== false,
      hidden: hiddenOf(stored.hidden),
    };
  } catch {
    return FIRST;
  }
}

function hiddenOf(value: unknown): Record<string, string[]> {
  if (typeof value !== "object" || value === null) {
    return {};
  }
  const lists = Object.entries(value).filter(([, names]) => Array.isArray(names));
  return Object.fromEntries(lists.map(([table, names]) => [table, names.map(String)]));
}
