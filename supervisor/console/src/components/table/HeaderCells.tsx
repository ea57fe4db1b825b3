import { Checkbox } from "@mantine/core";
import { flexRender, type Header } from "@tanstack/react-table";
import { Icon } from "../Icon";
import type { Selection } from "./DataTable";
import classes from "./DataTable.module.css";

type Props<T> = {
  headers: readonly Header<T, unknown>[];
  rows: readonly T[];
  rowId: (row: T) => string;
  sort?: string;
  onSort?: (sort: string) => void;
  selection?: Selection;
};

/** The row of headers: a sortable one is a button; it sorts up, then down. */
export function HeaderCells<T>({ headers, rows, rowId, sort = "", onSort, selection }: Props<T>) {
  const ids = selection === undefined ? [] : rows.map(rowId);
  const chosen = ids.filter((id) => selection?.ids.has(id)).length;
  return (
    <tr className={classes.row} aria-rowindex={1}>
      {selection !== undefined && (
        <th className={classes.cell} scope="col">
          <Checkbox
            aria-label="Select all rows that are shown"
            checked={ids.length > 0 && chosen === ids.length}
            indeterminate={chosen > 0 && chosen < ids.length}
            onChange={({ currentTarget }) =>
              selection.onChange(new Set(currentTarget.checked ? ids : []))
            }
          />
        </th>
      )}
      {headers.map(({ id, column, getContext }) => {
        const { align, sort: key, title } = column.columnDef.meta ?? {};
        const name = flexRender(column.columnDef.header, getContext());
        const direction = key === undefined ? undefined : directionOf(sort, key);
        return (
          <th
            key={id}
            className={classes.cell}
            scope="col"
            title={title}
            data-align={align}
            aria-sort={key === undefined ? undefined : direction}
          >
            {key === undefined || onSort === undefined ? (
              name
            ) : (
              <button
                type="button"
                className={classes.sorter}
                onClick={() => onSort(nextSort(sort, key))}
              >
                {name}
                {direction !== "none" && (
                  <Icon name={direction === "ascending" ? "up" : "down"} size={11} />
                )}
              </button>
            )}
          </th>
        );
      })}
    </tr>
  );
}

type Direction = "ascending" | "descending" | "none";

function directionOf(sort: string, key: string): Direction {
  if (sort === key) {
    return "ascending";
  }
  return sort === `-${key}` ? "descending" : "none";
}

/** The order after a click: the highest first, then the lowest, then the page's own. */
export function nextSort(sort: string, key: string): string {
  if (sort === `-${key}`) {
    return key;
  }
  return sort === key ? "" : `-${key}`;
}
