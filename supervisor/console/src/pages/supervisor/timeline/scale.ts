/** A span of time with its place in the chart, in px; a folded one is idle time. */
export type Stretch = { from: number; to: number; x: number; width: number; isFolded: boolean };
export type Span = readonly [number, number];

const FOLD_WIDTH = 30;
const FOLD_FROM_MS = 60_000;
/** Idle time is folded if it is longer than this share of the time in which something ran. */
const FOLD_FROM_SHARE = 0.1;

/** Joins spans that touch, within a window. */
export function busyOf(spans: readonly Span[], [begin, end]: Span): Span[] {
  const within = spans
    .map(([from, to]) => [Math.max(from, begin), Math.min(to, end)] as const)
    .filter(([from, to]) => to >= from)
    .sort(([one], [other]) => one - other);
  const joined: [number, number][] = [];
  for (const [from, to] of within) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) {
      last[1] = Math.max(last[1], to);
    } else {
      joined.push([from, to]);
    }
  }
  return joined;
}

/**
 * Divides a window into what is drawn to scale and long idle times, which are folded to a fixed
 * width.  Together they fill the width; nothing is folded where nothing ran.
 */
export function stretchesOf(busy: readonly Span[], window: Span, width: number): Stretch[] {
  const [begin, end] = window;
  const total = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const least = Math.max(FOLD_FROM_MS, total * FOLD_FROM_SHARE);
  const bounds = [begin, ...busy.flat(), end];
  const folded: Span[] = [];
  for (let gap = 0; busy.length > 0 && gap < bounds.length; gap += 2) {
    const [from = begin, to = end] = bounds.slice(gap, gap + 2);
    if (to - from >= least) {
      folded.push([from, to]);
    }
  }
  const pieces = piecesOf(window, folded);
  const folds = Math.min(FOLD_WIDTH, width / (2 * Math.max(folded.length, 1)));
  const drawn = pieces.reduce((sum, each) => sum + (each.isFolded ? 0 : each.to - each.from), 0);
  const perMs = (width - folds * folded.length) / Math.max(drawn, 1);
  let x = 0;
  return pieces.map(({ from, to, isFolded }) => {
    const size = isFolded ? folds : (to - from) * perMs;
    const piece = { from, to, x, width: size, isFolded };
    x += size;
    return piece;
  });
}

function piecesOf([begin, end]: Span, folded: readonly Span[]) {
  const pieces: { from: number; to: number; isFolded: boolean }[] = [];
  let at = begin;
  for (const [from, to] of folded) {
    if (from > at) {
      pieces.push({ from: at, to: from, isFolded: false });
    }
    pieces.push({ from, to, isFolded: true });
    at = to;
  }
  if (end > at || pieces.length === 0) {
    pieces.push({ from: at, to: end, isFolded: false });
  }
  return pieces;
}

/** Returns where a moment is, in px; one outside of the window is at its edge. */
export function placeOf(stretches: readonly Stretch[], at: number): number {
  const piece = stretches.find(({ to }) => at <= to) ?? stretches.at(-1);
  if (piece === undefined) {
    return 0;
  }
  const share = (at - piece.from) / Math.max(piece.to - piece.from, 1);
  return piece.x + Math.min(Math.max(share, 0), 1) * piece.width;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [1, 5, 10, 30].flatMap((n) => [n * SECOND, n * MINUTE]).sort((a, b) => a - b);
const ALL_STEPS = [...STEPS, HOUR, 3 * HOUR, 6 * HOUR];
const TICK_PX = 96;

/** Returns round moments that are at least so far apart that their words fit. */
export function ticksOf(stretches: readonly Stretch[]): number[] {
  const drawn = stretches.filter(({ isFolded }) => !isFolded);
  const millis = drawn.reduce((sum, { from, to }) => sum + to - from, 0);
  const width = drawn.reduce((sum, each) => sum + each.width, 0);
  const least = (millis * TICK_PX) / Math.max(width, 1);
  const step = ALL_STEPS.find((each) => each >= least) ?? 6 * HOUR;
  return drawn.flatMap(({ from, to }) => {
    const ticks: number[] = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      ticks.push(at);
    }
    return ticks;
  });
}
