import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { visible } from "@/text/visible";
import classes from "./Log.module.css";
import { partsOf } from "./view";

const LINE_PX = 18;
const OVERSCAN = 20;
/** Below this distance from its end a view is at the end. */
const NEAR_PX = 2 * LINE_PX;

export type LinesHandle = { scrollTo: (place: number) => void };

type Props = {
  lines: readonly string[];
  grave: Uint8Array;
  /** Indexes of the lines that are shown; null: all. */
  shown: readonly number[] | null;
  /** Whether the first line is the first of the log, so that lines have numbers. */
  isFromStart: boolean;
  find: string;
  isWrapped: boolean;
  isFollowed: boolean;
  /** The index of the line that is pointed at. */
  target: number | null;
  onScrollUp: () => void;
  onLine: (number: number) => void;
  handle: RefObject<LinesHandle | null>;
};

/** The lines of a log as text; those that are seen alone are in the page. */
export function LogLines(props: Props) {
  const { lines, grave, shown, isFromStart, find, isWrapped, isFollowed, target } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const count = shown?.length ?? lines.length;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN,
  });
  useImperativeHandle(
    props.handle,
    () => ({ scrollTo: (place) => virtual.scrollToIndex(place, { align: "center" }) }),
    [virtual],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights change with the wrapping alone
  useEffect(() => virtual.measure(), [isWrapped, virtual]);
  useLayoutEffect(() => {
    if (isFollowed && count > 0) {
      virtual.scrollToIndex(count - 1, { align: "end" });
    }
  }, [isFollowed, count, virtual]);
  useOlder(lines, isFollowed, (added) => virtual.scrollToIndex(added, { align: "start" }));
  const top = useRef(0);
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroller.current ?? {};
    const fromEnd = scrollHeight - clientHeight - scrollTop;
    if (scrollTop < top.current && fromEnd > NEAR_PX) {
      props.onScrollUp();
    }
    top.current = scrollTop;
  };
  return (
    <section
      className={classes.scroller}
      ref={scroller}
      data-wrap={isWrapped}
      aria-label="Lines of the log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it by keys
      tabIndex={0}
      onScroll={onScroll}
    >
      <ol className={classes.lines} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index: place, start, key }) => {
          const index = shown === null ? place : (shown[place] ?? 0);
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              className={classes.line}
              data-index={place}
              data-grave={grave[index]}
              data-target={index === target}
              aria-setsize={count}
              aria-posinset={place + 1}
              style={{ transform: `translateY(${start}px)` }}
            >
              <LineNumber number={isFromStart ? index + 1 : null} onLine={props.onLine} />
              <LineText line={lines[index] ?? ""} find={find} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Keeps the view where it is when lines come before the others. */
function useOlder(lines: readonly string[], isFollowed: boolean, keep: (added: number) => void) {
  const before = useRef(lines);
  useLayoutEffect(() => {
    const old = before.current;
    before.current = lines;
    const added = lines.length - old.length;
    const cameBefore = added > 0 && old.length > 0 && lines[0] !== old[0];
    if (cameBefore && !isFollowed && lines[added] === old[0]) {
      keep(added);
    }
  });
}

function LineNumber({
  number,
  onLine,
}: {
  number: number | null;
  onLine: (number: number) => void;
}) {
  if (number === null) {
    return (
      <span className={classes.number} title="It is known once all older lines are loaded.">
        ·
      </span>
    );
  }
  return (
    <a
      className={classes.number}
      href={`#L${number}`}
      onClick={(event) => {
        event.preventDefault();
        onLine(number);
      }}
    >
      {number}
    </a>
  );
}

function LineText({ line, find }: { line: string; find: string }) {
  return (
    <span className={classes.text}>
      {partsOf(line, find).map((part, place) =>
        place % 2 === 0 ? (
          visible(part)
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no name but their place
          <mark key={place}>{visible(part)}</mark>
        ),
      )}
    </span>
  );
}
