import { useEffect, useRef } from "react";
import { usePreferences } from "./preferences";

/** A key, or two one after the other ("g s"), and what it does in words. */
export type Binding = { keys: string; label: string; run: () => void };

const SEQUENCE_MS = 1_000;
const current = new Set<readonly Binding[]>();

/** Binds single keys while a component is shown.  They are off in inputs and dialogs. */
export function useKeys(bindings: readonly Binding[]): void {
  const newest = useRef(bindings);
  newest.current = bindings;
  const names = bindings.map(({ keys, label }) => `${keys}\n${label}`).join("\n");
  useEffect(() => {
    const lines = names.split("\n");
    const bound: Binding[] = [];
    for (let line = 0; line + 1 < lines.length; line += 2) {
      const [keys = "", label = ""] = lines.slice(line, line + 2);
      const run = () => newest.current.find((each) => each.keys === keys)?.run();
      bound.push({ keys, label, run });
    }
    current.add(bound);
    return () => {
      current.delete(bound);
    };
  }, [names]);
}

/** All keys that do something now. */
export function boundKeys(): Binding[] {
  return [...current].flat();
}

/** Listens for the keys of all components; used once, by the shell. */
export function useKeyListener(): void {
  const { keys: isOn } = usePreferences();
  useEffect(() => {
    if (!isOn) {
      return undefined;
    }
    let before = "";
    let beforeAt = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) {
        return;
      }
      const sequence = event.timeStamp - beforeAt < SEQUENCE_MS ? `${before} ${event.key}` : "";
      const every = boundKeys();
      const hit =
        every.find(({ keys }) => keys === sequence) ?? every.find(({ keys }) => keys === event.key);
      before = event.key;
      beforeAt = event.timeStamp;
      if (hit !== undefined) {
        event.preventDefault();
        hit.run();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [isOn]);
}

/** Whether a key belongs to what has the focus. */
function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) {
    return false;
  }
  const typed = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  return target.closest(`${typed}, [role=dialog], [role=menu], [role=listbox]`) !== null;
}
