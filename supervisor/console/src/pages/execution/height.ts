const ROW_PX = 38;
const HEAD_PX = 40;
const LEAST_PX = 250;

/** The height of a table inside a page that scrolls: that of its rows, up to a part of the window. */
export function heightOf(rows: number): string {
  return `max(${LEAST_PX}px, min(60vh, ${HEAD_PX + rows * ROW_PX}px))`;
}
