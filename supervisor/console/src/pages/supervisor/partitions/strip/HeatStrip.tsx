import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  useId,
  useMemo,
  useState,
} from "react";
import { exact } from "@/text/numbers";
import type { PartitionRow } from "../rows";
import { type Cell, cellAfter, cellsOf, countsOf, HEAT_WORDS, HEATS, stretchesOf } from "./cells";
import classes from "./HeatStrip.module.css";

/** Thousandths of the strip's height, so that no age is known by its colour alone. */
const HEIGHTS = { none: 100, seconds: 260, minutes: 440, tens: 630, hours: 820, unknown: 440 };
const WHOLE = 1_000;
/** A mark is at the top, above the highest bar. */
const MARK = 120;
/** Above this number of cells no gap between two can be seen. */
const GAPS_MOST = 120;
const CELL_MOST_PX = 26;

type Props = {
  /** Those that the list has; it has the rest when somebody scrolls to them. */
  rows: readonly PartitionRow[];
  /** How many more fit than the list has. */
  more: number;
  /** The partition that is open: `topic:number`. */
  open: string | undefined;
  onOpen: (name: string) => void;
  onClose: () => void;
};

/**
 * Which of many partitions lag, at one look: a cell for each, by the age of its oldest unread
 * record.  One drawing and one stop of the Tab key, however many cells there are.
 */
export function HeatStrip({ rows, more, open, onOpen, onClose }: Props) {
  const cells = useMemo(() => cellsOf(rows), [rows]);
  const [keysAt, setKeysAt] = useState<string | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [isFocused, setFocused] = useState(false);
  const id = useId();
  const indexOf = (name: string | null | undefined) => cells.findIndex((it) => it.name === name);
  const at = Math.max(indexOf(keysAt), indexOf(keysAt === null ? open : null), 0);
  const here = cells[at];
  if (here === undefined) {
    return null;
  }
  const shown = hovered === null ? (isFocused ? here : undefined) : cells[hovered];
  const choose = ({ name }: Cell) => {
    setKeysAt(name);
    onOpen(name);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = cells[cellAfter(event.key, at, cells.length) ?? -1];
    if (next !== undefined) {
      setKeysAt(next.name);
      setHovered(null);
    } else if (event.key === "Enter" || event.key === " ") {
      choose(here);
    } else if (event.key === "Escape" && open !== undefined) {
      onClose();
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <section className={classes.whole} aria-label="Age of lag">
      <div
        className={classes.strip}
        role="listbox"
        tabIndex={0}
        aria-label="Partitions by the age of their lag"
        aria-orientation="horizontal"
        aria-activedescendant={id}
        title={hovered === null ? undefined : cells[hovered]?.words}
        style={{ "--widest": `${cells.length * CELL_MOST_PX}px` } as CSSProperties}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onMouseMove={(event) => setHovered(indexAt(event, cells.length))}
        onMouseLeave={() => setHovered(null)}
        onClick={(event) => choose(cells[indexAt(event, cells.length)] ?? here)}
      >
        <Drawing cells={cells} open={indexOf(open)} />
        {/* The one cell that the keys are at: a thousand of them would slow the page down. */}
        <div
          id={id}
          role="option"
          className={classes.here}
          tabIndex={-1}
          aria-label={here.words}
          aria-selected={here.name === open}
          aria-setsize={cells.length}
          aria-posinset={at + 1}
          style={placeOf(at, cells.length)}
        />
      </div>
      <div className={classes.below}>
        <HeatKey cells={cells} />
        {more > 0 && <span>{`${exact(more)} more: scroll the list to its end`}</span>}
        <span className={classes.words}>{shown?.words}</span>
      </div>
    </section>
  );
}

function indexAt({ clientX, currentTarget }: MouseEvent, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  const index = Math.floor(((clientX - left) / width) * count);
  return Math.min(Math.max(index, 0), count - 1);
}

function placeOf(at: number, count: number): CSSProperties {
  return { left: `${(at / count) * 100}%`, width: `${100 / count}%` };
}

/** One path for each heat. */
function Drawing({ cells, open }: { cells: readonly Cell[]; open: number }) {
  const paths = useMemo(() => pathsOf(cells), [cells]);
  const marks = cells
    .map(({ isMarked }, at) => (isMarked ? `M${at} 0h1v${MARK}h-1z` : ""))
    .join("");
  return (
    <>
      <svg
        className={classes.drawing}
        viewBox={`0 0 ${cells.length} ${WHOLE}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {paths.map(([heat, d]) => (
          <path key={heat} data-heat={heat} d={d} />
        ))}
        <path data-heat="marked" d={marks} />
      </svg>
      {open >= 0 && <i className={classes.open} style={placeOf(open, cells.length)} />}
    </>
  );
}

function pathsOf(cells: readonly Cell[]): [string, string][] {
  const gap = cells.length <= GAPS_MOST ? 0.08 : 0;
  const all =
    gap === 0 ? stretchesOf(cells) : cells.map(({ heat }, from) => ({ heat, from, to: from + 1 }));
  return HEATS.map((heat) => {
    const those = all.filter((each) => each.heat === heat);
    const high = HEIGHTS[heat];
    const d = those.map(
      ({ from, to }) => `M${from + gap} ${WHOLE}V${WHOLE - high}H${to - gap}V${WHOLE}z`,
    );
    return [heat, d.join("")];
  });
}

/** Says what the colours and heights are, and how many partitions have each. */
function HeatKey({ cells }: { cells: readonly Cell[] }) {
  const marked = cells.filter(({ isMarked }) => isMarked).length;
  return (
    <>
      {countsOf(cells).map(([heat, number]) => (
        <span key={heat} className={classes.key}>
          <svg viewBox={`0 0 1 ${WHOLE}`} preserveAspectRatio="none" aria-hidden="true">
            <path data-heat={heat} d={`M0 ${WHOLE}V${WHOLE - HEIGHTS[heat]}H1V${WHOLE}z`} />
          </svg>
          {HEAT_WORDS[heat]} <b>{exact(number)}</b>
        </span>
      ))}
      {marked > 0 && (
        <span className={classes.key}>
          <svg viewBox={`0 0 1 ${WHOLE}`} preserveAspectRatio="none" aria-hidden="true">
            <path data-heat="marked" d={`M0 0h1v${2 * MARK}h-1z`} />
          </svg>
          at risk or in trouble <b>{exact(marked)}</b>
        </span>
      )}
    </>
  );
}
