import type { CSSProperties } from "react";

const ROW_PX = 38;
const HEAD_PX = 40;
const LEAST_PX = 250;

/**
 * The height of a table inside a page that scrolls: that of its rows, up to a part of the window.
 * In a small window the table has a height of its own: the class of its place sets `auto` there.
 */
export function heightOf(rows: number): CSSProperties {
  const high = `max(${LEAST_PX}px, min(60vh, ${HEAD_PX + rows * ROW_PX}px))`;
  return { "--high": high } as CSSProperties;
}
