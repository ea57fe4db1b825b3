import {
  type ColumnDef,
  getCoreRowModel,
  type Header,
  type Row,
  useReactTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import { usePreferences } from "@/app/preferences";
import classes from "./DataTable.module.css";
import { HeaderCells } from "./HeaderCells";
import { useMoreBeside } from "./moreBeside";
import { useRowKeys } from "./rowKeys";
import { TableRow } from "./TableRow";

/** What a column of a DataTable needs beyond TanStack's: its width as a track of CSS grid. */
declare module "@tanstack/react-table" {
  interface ColumnMeta<TData, TValue> {
    width: string;
    /** What the values of the column are, where its header is too short to say it. */
    title?: string;
    align?: "right";
    /** The server's name of this column's order; a column without one cannot be sorted. */
    sort?: string;
    /** A column that cannot be hidden. */
    isFixed?: true;
    /** A column that is hidden until somebody wants it. */
    isExtra?: true;
  }
}

export type Column<T> = ColumnDef<T, unknown>;

export type Selection = {
  ids: ReadonlySet<string>;
  onChange: (ids: ReadonlySet<string>) => void;
};

type Props<T> = {
  /** The name under which preferences are kept. */
  name: string;
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowId: (row: T) => string;
  /** The number of rows on all pages. */
  total: number;
  /** The server's order: a column's `sort`, with - before it for the highest first. */
  sort?: string;
  onSort?: (sort: string) => void;
  /** A line below a row, for what needs no click; null: none. */
  below?: (row: T) => ReactNode | null;
  /** Makes a row the head of those that follow it: all its width is this; null: it is a row. */
  head?: (row: T) => ReactNode | null;
  selection?: Selection;
  /** The row that the keys j and k move from; in the URL. */
  active?: string | undefined;
  onActive?: (id: string) => void;
  /** Opens a row: Enter, or a double click. */
  onOpen?: (row: T) => void;
  /** Whether one click opens a row, too. */
  opensByClick?: boolean;
  /** Asks for the next page: the end comes near. */
  onEnd?: () => void;
  /** Whether keys reach the scroller: where no row has a link, nothing else lets it scroll. */
  scrollsByKeys?: boolean;
  /** What is shown instead of rows. */
  empty: ReactNode;
};

const HEIGHTS = { dense: 30, roomy: 38 };
const BELOW = 30;
const OVERSCAN = 12;
const NEAR_END = 40;
/** The head sticks to the top of the scroller: so much less of it shows rows. */
const HEAD = 31;

/**
 * The table of all pages: sorted and filtered by the server, with virtual rows, a selection and
 * keys.  It fills its parent and scrolls by itself.
 */
export function DataTable<T>(props: Props<T>) {
  const { rows, rowId, total, below, onEnd } = props;
  const { density, hidden } = usePreferences();
  const scroller = useRef<HTMLDivElement>(null);
  const itemKey = useCallback(
    (index: number) => {
      const row = rows[index]; // none: a row that is measured has just gone
      return row === undefined ? index : rowId(row);
    },
    [rows, rowId],
  );
  const height = useCallback(
    (index: number) => {
      const row = rows[index];
      const hasBelow = row !== undefined && (below?.(row) ?? null) !== null;
      return HEIGHTS[density] + (hasBelow ? BELOW : 0);
    },
    [rows, below, density],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: itemKey,
    estimateSize: height,
    overscan: OVERSCAN,
    scrollPaddingEnd: HEAD,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes change with the density alone
  useEffect(() => virtual.measure(), [density, virtual]);
  const items = virtual.getVirtualItems();
  // A table of the drawn rows alone: a long list costs no more than a short one.
  const table = useReactTable<T>({
    data: useMemo(() => items.map(({ index }) => rows[index] as T), [items, rows]),
    columns: props.columns as Column<T>[],
    getRowId: rowId,
    getCoreRowModel: getCoreRowModel(),
    manualSorting: true,
    state: {
      columnVisibility: Object.fromEntries(
        hiddenIn(props.columns, hidden[props.name]).map((id) => [id, false]),
      ),
    },
  });
  const drawn = table.getRowModel().rows;
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (onEnd !== undefined && rows.length < total && last >= rows.length - NEAR_END) {
      onEnd();
    }
  }, [last, rows.length, total, onEnd]);
  const scrollTo = (index: number) => virtual.scrollToIndex(index, { align: "auto" });
  useRowKeys({ ...props, scrollTo });
  useActiveInSight(props, scrollTo);
  useMoreBeside(scroller);
  const headers = table.getFlatHeaders();
  return (
    <div
      className={classes.scroller}
      ref={scroller}
      data-density={density}
      {...(props.scrollsByKeys ? { tabIndex: 0, role: "group", "aria-label": props.label } : {})}
    >
      <table
        className={classes.table}
        aria-label={props.label}
        aria-rowcount={total + 1}
        style={{ "--tracks": tracksOf(headers, props.selection !== undefined) } as CSSProperties}
      >
        <thead className={classes.head}>
          <HeaderCells {...props} headers={headers} />
        </thead>
        <tbody className={classes.body} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }, n) => (
            <TableRow
              key={key}
              row={drawn[n] as Row<T>}
              index={index}
              top={start}
              measure={virtual.measureElement}
              {...props}
            />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <div className={classes.empty}>{props.empty}</div>}
    </div>
  );
}

type Active<T> = Pick<Props<T>, "rows" | "rowId" | "active">;

/** Brings a row into sight once when something else than its keys makes it active, such as a link. */
function useActiveInSight<T>({ rows, rowId, active }: Active<T>, scrollTo: (at: number) => void) {
  const seen = useRef<string | undefined>(undefined);
  useEffect(() => {
    const at = active === seen.current ? -1 : rows.findIndex((row) => rowId(row) === active);
    if (active === undefined || at >= 0) {
      seen.current = active;
    }
    if (at >= 0) {
      scrollTo(at);
    }
  });
}

/** The columns that are hidden: those that somebody chose, else those that are extra. */
export function hiddenIn<T>(
  columns: readonly Column<T>[],
  chosen: readonly string[] | undefined,
): readonly string[] {
  const extra = columns.filter(({ meta }) => meta?.isExtra === true);
  return chosen ?? extra.map(({ id = "" }) => id);
}

function tracksOf<T>(headers: readonly Header<T, unknown>[], hasSelection: boolean): string {
  const widths = headers.map(({ column }) => column.columnDef.meta?.width ?? "1fr");
  return [...(hasSelection ? ["34px"] : []), ...widths].join(" ");
}
