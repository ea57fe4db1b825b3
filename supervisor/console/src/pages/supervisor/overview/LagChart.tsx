import { useMantineColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePreferences } from "@/app/preferences";
import { short } from "@/text/numbers";
import { age, clock } from "@/text/times";
import classes from "./LagPanel.module.css";
import { type LagSample, seriesOf } from "./lagSeries";

const HEIGHT = 190;
const MINUTE_SIGNS = 5;

const FEW_SAMPLES = 5;

type Props = {
  samples: readonly LagSample[];
  stepMs: number;
  /** The window in milliseconds; the axis has all of it, also where there is no sample. */
  begin: number;
  end: number;
};

/** Draws lag in records (left) and in time (right).  The table beside it has the same to read. */
export function LagChart({ samples, stepMs, begin, end }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const { colorScheme } = useMantineColorScheme();
  const { zone } = usePreferences();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are those of the scheme
  useEffect(() => {
    const element = place.current;
    if (element === null) {
      return undefined;
    }
    const options = optionsOf(element, zone, [begin / 1_000, end / 1_000]);
    if (samples.length < FEW_SAMPLES) {
      options.series.forEach((line) => {
        line.points = { show: true, size: 5 }; // a line needs two samples side by side
      });
    }
    const plot = new uPlot(options, seriesOf(samples, stepMs), element);
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [samples, stepMs, begin, end, colorScheme, zone]);
  return <div ref={place} className={classes.chart} aria-hidden="true" />;
}

function optionsOf(
  element: HTMLElement,
  zone: "local" | "utc",
  window: [number, number],
): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--ink-dim"), ticks: { show: false }, font: "11px sans-serif" };
  const grid = { stroke: colour("--line"), width: 1 };
  const minutes = (seconds: number) =>
    clock(new Date(seconds * 1_000), zone).slice(0, MINUTE_SIGNS);
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: {
      x: { time: true, range: window },
      records: { range: (_, __, max) => [0, Math.max(max, 1)] },
      age: { range: (_, __, max) => [0, Math.max(max, 1)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 26, values: (_, all) => all.map(minutes) },
      { ...axis, grid, scale: "records", size: 52, values: (_, all) => all.map(whole) },
      {
        ...axis,
        grid: { show: false },
        scale: "age",
        side: 1,
        size: 48,
        values: (_, all) => all.map(ageOf),
      },
    ],
    series: [
      {},
      { scale: "records", stroke: colour("--accent"), width: 1.6, points: { show: false } },
      { scale: "age", stroke: colour("--risk"), width: 1.2, dash: [4, 3], points: { show: false } },
    ],
  };
}

function ageOf(seconds: number): string {
  return seconds < 60 ? `${Math.round(seconds * 10) / 10} s` : age(seconds * 1_000);
}

function whole(value: number): string {
  return Number.isInteger(value) ? short(value) : "";
}
