import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useState } from "react";
import { usePreferences } from "@/app/preferences";
import { day, minute } from "@/text/days";
import { counted, exact, short } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { span, type Zone } from "@/text/times";
import type { Measure } from "../search";
import { Bar, ChartKey, Hatching } from "./Bar";
import { highestOf, partsOf, slotsOf, type TimeBucket, windowOf } from "./shape";
import classes from "./TimeChart.module.css";

const DAY_MS = 86_400_000;
/** So few bars have their times below them. */
const NAMED_MAX = 10;

type Props = {
  name: string;
  buckets: readonly TimeBucket[];
  bucketMs: number;
  /** The length of its longest files. */
  fileMs: number;
  measure: Measure;
};

/**
 * Bars by time.  One stop for the keyboard: arrows move, with shift they take in more bars, Enter
 * shows the files of those that are chosen; so does a click, or dragging over several.
 */
export function TimeChart({ name, buckets, bucketMs, fileMs, measure }: Props) {
  const navigate = useNavigate();
  const id = useId();
  const { zone } = usePreferences();
  const [at, setAt] = useState(buckets.length - 1);
  const [anchor, setAnchor] = useState<number | null>(null);
  const [isDragging, setDragging] = useState(false);
  const [pointed, setPointed] = useState<number | null>(null);
  const here = Math.min(at, buckets.length - 1);
  const [first, last] = [Math.min(here, anchor ?? here), Math.max(here, anchor ?? here)];
  const highest = highestOf(buckets, measure);
  const slots = slotsOf(buckets, bucketMs);
  const areFew = slots.length <= NAMED_MAX;
  const open = (from: number, to: number) => {
    const [begin, end] = [buckets[from], buckets[to]];
    if (begin !== undefined && end !== undefined) {
      const search = windowOf(begin, end, bucketMs, fileMs);
      void navigate({ to: "/tables/$ds/files", params: { ds: name }, search });
    }
  };
  const onKey = (event: KeyboardEvent) => {
    const to = movedTo(event.key, here, buckets.length);
    if (event.key === "Enter") {
      open(first, last);
    } else if (to !== null) {
      event.preventDefault();
      setAnchor(event.shiftKey ? (anchor ?? here) : null);
      setAt(to);
    }
  };
  const words = (index: number) => {
    const bucket = buckets[index];
    return bucket === undefined ? "" : wordsOf(bucket, bucketMs, zone);
  };
  const chosen = first === last ? "" : `${counted(last - first + 1, "bucket")} chosen, from `;
  return (
    <div>
      <div className={classes.scale} aria-hidden="true">
        <span>{measure === "bytes" ? bytes(highest) : short(highest)}</span>
        <span>{chosen + words(first === last ? (pointed ?? here) : first)}</span>
      </div>
      <div
        className={classes.chart}
        role="slider"
        tabIndex={0}
        aria-label="Bars by time: arrows move, Enter shows the files"
        aria-orientation="horizontal"
        aria-valuemin={1}
        aria-valuemax={buckets.length}
        aria-valuenow={here + 1}
        aria-valuetext={chosen + words(first)}
        onKeyDown={onKey}
        onPointerUp={() => {
          if (isDragging) {
            setDragging(false);
            open(first, last);
          }
        }}
        onPointerLeave={() => {
          setDragging(false);
          setPointed(null);
        }}
      >
        <Hatching id={id} />
        {slots.map((slot) =>
          slot.kind === "gap" ? (
            <Gap key={slot.from} slot={slot} />
          ) : (
            <span
              key={slot.bucket.start}
              className={classes.slot}
              data-chosen={slot.index >= first && slot.index <= last && anchor !== null}
              data-here={slot.index === here}
              onPointerDown={(event) => {
                event.preventDefault();
                setAt(slot.index);
                setAnchor(slot.index);
                setDragging(true);
              }}
              onPointerEnter={() => {
                setPointed(slot.index);
                if (isDragging) {
                  setAt(slot.index);
                }
              }}
            >
              <Bar
                parts={partsOf(slot.bucket, measure, highest)}
                hasMarks={measure !== "files"}
                hasSmall={slot.bucket.small > 0}
                hasUnused={slot.bucket.unused > 0}
                id={id}
              />
              {areFew && (
                <span className={classes.label}>{timeOf(slot.bucket, bucketMs, zone)}</span>
              )}
            </span>
          ),
        )}
      </div>
      <div className={classes.ends}>
        <span>{!areFew && timeOf(buckets[0], bucketMs, zone)}</span>
        <ChartKey id={`${id}key`} measure={measure} />
        <span>{!areFew && timeOf(buckets.at(-1), bucketMs, zone)}</span>
      </div>
    </div>
  );
}

function Gap({ slot }: { slot: { from: number; to: number; buckets: number } }) {
  return slot.buckets === 1 ? (
    <span className={classes.slot} />
  ) : (
    <span className={classes.fold} title={`No file for ${span(slot.to - slot.from)}`}>
      ⋯
    </span>
  );
}

/** The bar that a key leads to; null: it is no key of the chart. */
function movedTo(key: string, here: number, count: number): number | null {
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return Math.max(here - 1, 0);
    case "ArrowRight":
    case "ArrowUp":
      return Math.min(here + 1, count - 1);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}

function timeOf(bucket: TimeBucket | undefined, bucketMs: number, zone: Zone): string {
  if (bucket === undefined) {
    return "";
  }
  const at = new Date(bucket.start);
  return bucketMs < DAY_MS || zone !== "utc" ? minute(at, zone) : day(at, zone);
}

function wordsOf(bucket: TimeBucket, bucketMs: number, zone: Zone): string {
  const { rows, bytes: size, files, small, unused } = bucket;
  return [
    `${timeOf(bucket, bucketMs, zone)}: ${exact(rows)} rows`,
    bytes(size),
    `${counted(files, "file")}`,
    ...(small > 0 ? [`${exact(small)} small`] : []),
    ...(unused > 0 ? [`${exact(unused)} taken out`] : []),
  ].join(", ");
}
