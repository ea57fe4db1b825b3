import { Checkbox } from "@mantine/core";
import { flexRender, type Row } from "@tanstack/react-table";
import type { MouseEvent, ReactNode } from "react";
import type { Selection } from "./DataTable";
import classes from "./DataTable.module.css";
import { toggled } from "./rowKeys";

type Props<T> = {
  row: Row<T>;
  index: number;
  /** Distance from the head of the body, in px. */
  top: number;
  measure: (element: HTMLElement | null) => void;
  below?: (row: T) => ReactNode | null;
  head?: (row: T) => ReactNode | null;
  selection?: Selection;
  active?: string | undefined;
  onActive?: (id: string) => void;
  onOpen?: (row: T) => void;
  opensByClick?: boolean;
};

/** A row at its place in a virtual body; what is below it is a cell of the same row. */
export function TableRow<T>({ row, index, top, measure, ...props }: Props<T>) {
  const { selection, below, head, active, onActive, onOpen, opensByClick } = props;
  const heading = head?.(row.original) ?? null;
  const more = heading === null ? (below?.(row.original) ?? null) : null;
  const cells = row.getVisibleCells();
  const isSelected = selection?.ids.has(row.id) ?? false;
  return (
    <tr
      ref={measure}
      className={classes.row}
      data-index={index}
      data-row={row.id}
      data-active={active === row.id}
      data-selected={isSelected}
      aria-rowindex={index + 2}
      aria-current={active === row.id || undefined}
      style={{ position: "absolute", top: 0, width: "100%", transform: `translateY(${top}px)` }}
      onClick={(event) => {
        // A link in the row has led elsewhere by then.
        if (event.defaultPrevented) {
          return;
        }
        onActive?.(row.id);
        if (opensByClick && !isElsewhere(event)) {
          onOpen?.(row.original);
        }
      }}
      onDoubleClick={() => onOpen?.(row.original)}
    >
      {heading !== null && (
        <th className={classes.heading} scope="rowgroup" colSpan={cells.length}>
          {heading}
        </th>
      )}
      {heading === null && selection !== undefined && (
        <td className={classes.cell}>
          <Checkbox
            aria-label={`Select ${row.id}`}
            checked={isSelected}
            onChange={() => selection.onChange(toggled(selection.ids, row.id))}
          />
        </td>
      )}
      {heading === null &&
        cells.map(({ id, column, getContext }) => (
          <td key={id} className={classes.cell} data-align={column.columnDef.meta?.align}>
            {flexRender(column.columnDef.cell, getContext())}
          </td>
        ))}
      {more !== null && <td className={classes.below}>{more}</td>}
    </tr>
  );
}

/** Whether a click was for something else than its row: a link in a new tab, or text to be copied. */
function isElsewhere({ target }: MouseEvent): boolean {
  const isLink = target instanceof Element && target.closest("a, button, input") !== null;
  return isLink || getSelection()?.isCollapsed === false;
}
