import type { ReactNode } from "react";
import { visible } from "@/text/visible";
import { Stamp } from "./Time";

const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/** A sentence of the overlord; its moments are shown in the zone of whoever reads it. */
export function Prose({ children }: { children: string }) {
  const text = visible(children);
  const shown: ReactNode[] = [];
  let end = 0;
  for (const { 0: at, index } of text.matchAll(INSTANT)) {
    shown.push(text.slice(end, index), <Stamp key={index} at={at} unknown="" />);
    end = index + at.length;
  }
  return [...shown, text.slice(end)];
}
