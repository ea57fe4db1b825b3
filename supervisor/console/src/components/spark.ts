/** A sample of a figure: when in milliseconds, and how much; null: it was not known. */
export type Sample = { at: number; value: number | null };

const GAP_FACTOR = 2.5;

/**
 * Returns the area below samples as a polygon of CSS, in a box from `begin` to `end`, as high as the
 * highest sample.  Where samples are missing for longer than `stepMs` times 2.5 it is at the bottom.
 * Null: there is nothing above 0.
 */
export function polygonOf(
  samples: readonly Sample[],
  { begin, end, stepMs }: { begin: number; end: number; stepMs: number },
): string | null {
  const within = samples.filter(({ at }) => at >= begin && at <= end);
  const most = Math.max(0, ...within.map(({ value }) => value ?? 0));
  if (most === 0) {
    return null;
  }
  const x = (at: number) => percent((at - begin) / (end - begin));
  const points: string[] = [];
  let before: number | null = null;
  for (const { at, value } of within) {
    if (value === null || before === null || at - before > stepMs * GAP_FACTOR) {
      if (before !== null) {
        points.push(`${x(before)} 100%`);
      }
      points.push(`${x(at)} 100%`);
    }
    if (value !== null) {
      points.push(`${x(at)} ${percent(1 - value / most)}`);
    }
    before = value === null ? null : at;
  }
  if (before !== null) {
    points.push(`${x(before)} 100%`);
  }
  return `polygon(${points.join(", ")})`;
}

function percent(part: number): string {
  return `${Math.round(part * 1_000) / 10}%`;
}
