import type { Branch, Step } from "./plan";

/** A step with its place in the picture, in px; a group has other steps inside. */
export type Box = {
  step: Step;
  x: number;
  y: number;
  width: number;
  height: number;
  isGroup: boolean;
};
export type Point = readonly [x: number, y: number];
/** A line from the right of one step to the left of another, by points beside those between. */
export type Line = { key: string; points: readonly Point[] };
/** A title above steps: of a phase, or of a case of a switch. */
export type Title = { key: string; text: string; x: number; y: number };
export type Picture = {
  boxes: Box[];
  lines: Line[];
  titles: Title[];
  width: number;
  height: number;
};

const WIDTH = 156;
const HEIGHT = 48;
const COLUMN_GAP = 44;
const ROW_GAP = 14;
const PADDING = 12;
const HEAD = 50;
const TITLE = 22;
const PHASE_GAP = 20;
const PASSING = 12;

type Size = { width: number; height: number };

/**
 * Lays the steps of a flow out: each layer is right of those that it comes after, and a step with
 * steps inside is a box around them.
 */
export function pictureOf(graphs: readonly Branch[]): Picture {
  const picture: Picture = { boxes: [], lines: [], titles: [], width: 0, height: 0 };
  const isTitled = graphs.length > 1;
  graphs.forEach(({ title, steps }, n) => {
    const top = picture.height + (n > 0 ? PHASE_GAP : 0);
    if (isTitled) {
      picture.titles.push({ key: title, text: title, x: 0, y: top });
    }
    const begin = top + (isTitled ? TITLE : 0);
    const { width, height } = place(picture, steps, 0, begin, "");
    picture.width = Math.max(picture.width, width);
    picture.height = begin + height;
  });
  return picture;
}

/** The layer of each step: 0, or one more than the last of those that it comes after. */
export function layersOf(steps: readonly Step[]): Step[][] {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const known = new Map<string, number>();
  const layerOf = (step: Step): number => {
    const layer = known.get(step.name);
    if (layer !== undefined) {
      return layer;
    }
    known.set(step.name, 0); // a cycle, which no overlord stores, ends here
    const before = step.after.flatMap((name) => byName.get(name) ?? []);
    const own = before.reduce((most, each) => Math.max(most, layerOf(each) + 1), 0);
    known.set(step.name, own);
    return own;
  };
  const layers: Step[][] = [];
  for (const step of steps) {
    const layer = layerOf(step);
    while (layers.length <= layer) {
      layers.push([]);
    }
    layers[layer]?.push(step);
  }
  return layers;
}

/** What is in a column: a step, or room for the lines of an earlier step that pass by. */
type Entry = { step: Step; size: Size; isPassing: boolean };

/** The columns of steps: lines that go beyond the next column keep a row free in each between. */
function columnsOf(steps: readonly Step[]): Entry[][] {
  const layers = layersOf(steps);
  const layerOf = new Map(
    layers.flatMap((layer, n) => layer.map(({ name }) => [name, n] as const)),
  );
  const last = new Map<string, number>();
  for (const { name, after } of steps) {
    for (const before of after) {
      last.set(before, Math.max(last.get(before) ?? 0, layerOf.get(name) ?? 0));
    }
  }
  return layers.map((layer, n) => [
    ...layer.map((step) => ({ step, size: sizeOf(step), isPassing: false })),
    ...layers
      .slice(0, n)
      .flat()
      .filter(({ name }) => (last.get(name) ?? 0) > n)
      .map((step) => ({ step, size: { width: 0, height: PASSING }, isPassing: true })),
  ]);
}

function place(
  picture: Picture,
  steps: readonly Step[],
  left: number,
  top: number,
  path: string,
): Size {
  const columns = columnsOf(steps);
  const { width, height } = measured(columns);
  const here = new Map<string, Box>();
  /** Name of a step -> the points by which its lines go on, column by column. */
  const ways = new Map<string, { column: number; points: Point[] }[]>();
  let x = left;
  columns.forEach((column, n) => {
    const sizes = column.map(({ size }) => size);
    const wide = widest(sizes);
    let y = top + (height - stacked(sizes)) / 2;
    for (const { step, size, isPassing } of column) {
      if (isPassing) {
        const middle = y + size.height / 2;
        const points: Point[] = [
          [x, middle],
          [x + wide, middle],
        ];
        ways.set(step.name, [...(ways.get(step.name) ?? []), { column: n, points }]);
      } else {
        const box = { step, x, y, ...size, isGroup: step.inner.length > 0 };
        picture.boxes.push(box);
        here.set(step.name, box);
        placeInner(picture, box, path);
        for (const name of step.after) {
          const between = (ways.get(name) ?? []).filter(({ column: at }) => at < n);
          const points = between.flatMap((way) => way.points);
          draw(picture, `${path}${name} ${step.name}`, here.get(name), box, points);
        }
      }
      y += size.height + ROW_GAP;
    }
    x += wide + COLUMN_GAP;
  });
  return { width, height };
}

function draw(
  picture: Picture,
  key: string,
  from: Box | undefined,
  to: Box,
  between: readonly Point[],
): void {
  if (from !== undefined) {
    const begin: Point = [from.x + from.width, from.y + from.height / 2];
    picture.lines.push({ key, points: [begin, ...between, [to.x, to.y + to.height / 2]] });
  }
}

function placeInner(picture: Picture, { step, x, y }: Box, path: string): void {
  let top = y + HEAD;
  for (const { title, steps } of step.inner) {
    if (title !== "") {
      const key = `${path}${step.name} ${title}`;
      picture.titles.push({ key, text: title, x: x + PADDING, y: top });
      top += TITLE;
    }
    const { height } = place(picture, steps, x + PADDING, top, `${path}${step.name} `);
    top += height + ROW_GAP;
  }
}

/** The size of a step's box; measured by a picture of its own for what is inside. */
function sizeOf(step: Step): Size {
  if (step.inner.length === 0) {
    return { width: WIDTH, height: HEIGHT };
  }
  let width = WIDTH;
  let height = HEAD + PADDING - ROW_GAP;
  for (const { title, steps } of step.inner) {
    const size = measured(columnsOf(steps));
    width = Math.max(width, size.width + 2 * PADDING);
    height += size.height + ROW_GAP + (title === "" ? 0 : TITLE);
  }
  return { width, height };
}

function measured(columns: readonly Entry[][]): Size {
  const sizes = columns.map((column) => column.map(({ size }) => size));
  return {
    width: sizes.reduce((sum, each) => sum + widest(each), 0) + COLUMN_GAP * (sizes.length - 1),
    height: Math.max(0, ...sizes.map(stacked)),
  };
}

function widest(sizes: readonly Size[]): number {
  return Math.max(0, ...sizes.map(({ width }) => width));
}

function stacked(sizes: readonly Size[]): number {
  return sizes.reduce((sum, { height }) => sum + height, 0) + ROW_GAP * (sizes.length - 1);
}
