import { useKeys } from "@/app/keys";
import type { Selection } from "./DataTable";

type Rows<T> = {
  rows: readonly T[];
  rowId: (row: T) => string;
  active?: string | undefined;
  onActive?: (id: string) => void;
  onOpen?: (row: T) => void;
  selection?: Selection;
  scrollTo: (index: number) => void;
};

/** Binds the keys of rows: j and k move, x selects, Enter opens. */
export function useRowKeys<T>(table: Rows<T>): void {
  const { rows, rowId, active, onActive, onOpen, selection } = table;
  const at = rows.findIndex((row) => rowId(row) === active);
  const move = (step: number) => {
    const to = Math.min(Math.max(at + step, 0), rows.length - 1);
    const row = rows[at < 0 ? 0 : to];
    if (row !== undefined) {
      onActive?.(rowId(row));
      table.scrollTo(at < 0 ? 0 : to);
    }
  };
  const here = rows[at];
  useKeys([
    ...(onActive === undefined
      ? []
      : [
          { keys: "j", label: "Next row", run: () => move(1) },
          { keys: "k", label: "Row before", run: () => move(-1) },
        ]),
    ...(selection === undefined
      ? []
      : [
          {
            keys: "x",
            label: "Select the row",
            run: () => here && selection.onChange(toggled(selection.ids, rowId(here))),
          },
        ]),
    ...(onOpen === undefined
      ? []
      : [{ keys: "o", label: "Open the row", run: () => here && onOpen(here) }]),
  ]);
}

/** Returns the ids with one of them put in, or taken out. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) {
    next.add(id);
  }
  return next;
}
