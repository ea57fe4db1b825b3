import type { Exact } from "@/api/json";

export type LagSample = { at: string; records: Exact | null; millis: Exact | null };

/** Columns for the chart: seconds, unread records, age of the oldest in seconds. */
export type LagSeries = [number[], (number | null)[], (number | null)[]];

const GAP_FACTOR = 2.5;

/**
 * Returns the columns of samples.  Where samples are missing for longer than `stepMs` times 2.5 a
 * point without values is put in, so that the line is broken there.
 */
export function seriesOf(samples: readonly LagSample[], stepMs: number): LagSeries {
  const series: LagSeries = [[], [], []];
  let before: number | null = null;
  for (const { at, records, millis } of samples) {
    const time = Date.parse(at);
    if (before !== null && time - before > stepMs * GAP_FACTOR) {
      push(series, before + stepMs, null, null);
    }
    push(series, time, numberOf(records), millis === null ? null : Number(millis) / 1_000);
    before = time;
  }
  return series;
}

function push(series: LagSeries, at: number, records: number | null, age: number | null): void {
  series[0].push(at / 1_000);
  series[1].push(records);
  series[2].push(age);
}

/** A chart needs no digits beyond 2^53; the table behind it has them. */
function numberOf(value: Exact | null): number | null {
  return value === null ? null : Number(value);
}
