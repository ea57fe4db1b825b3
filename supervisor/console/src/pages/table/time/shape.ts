import type { Got } from "@/api/client";
import { BUCKETS, type Bucket, type Measure } from "../search";

export type Timeline = Got<"/api/v1/datasources/{data_source}/timeline">;
export type TimeBucket = Timeline["buckets"][number];

/** A bucket that has files, or a gap of so many buckets without any. */
export type Slot =
  | { kind: "bucket"; bucket: TimeBucket; index: number }
  | { kind: "gap"; from: number; to: number; buckets: number };

/** Gaps of so many buckets are shown as they are; longer ones are folded. */
const SHOWN_GAP = 3;

/** The buckets in order, with the times between them where no file is. */
export function slotsOf(buckets: readonly TimeBucket[], bucketMs: number): Slot[] {
  const slots: Slot[] = [];
  let next: number | null = null;
  for (const [index, bucket] of buckets.entries()) {
    const start = Date.parse(bucket.start);
    const missing = next === null ? 0 : Math.round((start - next) / bucketMs);
    if (next !== null && missing > SHOWN_GAP) {
      slots.push({ kind: "gap", from: next, to: start, buckets: missing });
    } else if (next !== null) {
      for (let at: number = next; at < start; at += bucketMs) {
        slots.push({ kind: "gap", from: at, to: at + bucketMs, buckets: 1 });
      }
    }
    slots.push({ kind: "bucket", bucket, index });
    next = start + bucketMs;
  }
  return slots;
}

/** The parts of one bar as shares of the highest one: plain files, small ones, unused ones. */
export type Parts = { plain: number; small: number; unused: number };

type Three = [number, number, number];

/** What a bar shows; of files also how many of them are small, and how many were taken out. */
export function partsOf(bucket: TimeBucket, measure: Measure, highest: number): Parts {
  if (highest === 0) {
    return { plain: 0, small: 0, unused: 0 };
  }
  const share = (value: number) => value / highest;
  if (measure !== "files") {
    return { plain: share(Number(bucket[measure])), small: 0, unused: 0 };
  }
  const [files, small, unused] = [bucket.files, bucket.small, bucket.unused].map(Number) as Three;
  return { plain: share(files - small), small: share(small), unused: share(unused) };
}

/** The height that the axis has to have: files that were taken out are on top of the others. */
export function highestOf(buckets: readonly TimeBucket[], measure: Measure): number {
  const value = (each: TimeBucket) =>
    measure === "files" ? Number(each.files) + Number(each.unused) : Number(each[measure]);
  return buckets.reduce((most, each) => Math.max(most, value(each)), 0);
}

export type Sums = { rows: bigint; bytes: bigint; files: bigint; small: bigint; unused: bigint };

/** All buckets together. */
export function sumsOf(buckets: readonly TimeBucket[]): Sums {
  const sum = (name: keyof Sums) => buckets.reduce((total, each) => total + BigInt(each[name]), 0n);
  return {
    rows: sum("rows"),
    bytes: sum("bytes"),
    files: sum("files"),
    small: sum("small"),
    unused: sum("unused"),
  };
}

const BARS_WANTED = 400;

/** The finest bucket that divides a span of time into few enough bars, and divides no file. */
export function bucketFor(spanMs: number, fileMs: number): Bucket {
  const names = Object.keys(BUCKETS) as Bucket[];
  const fits = names.find((name) => {
    const size = BUCKETS[name];
    return size >= fileMs && spanMs / size <= BARS_WANTED;
  });
  return fits ?? "P30D";
}

/**
 * The window of files of some buckets.  A file belongs to the bucket in which its interval begins;
 * one that is no part of a bucket's length may end later, so the window is longer by it.
 */
export function windowOf(
  first: TimeBucket,
  last: TimeBucket,
  bucketMs: number,
  fileMs: number,
): { from: string; to: string } {
  const over = fileMs > 0 && bucketMs % fileMs !== 0 ? fileMs : 0;
  return {
    from: first.start,
    to: new Date(Date.parse(last.start) + bucketMs + over).toISOString().replace(".000Z", "Z"),
  };
}
