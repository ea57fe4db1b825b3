import classes from "./Chart.module.css";
import type { Lane } from "./lanes";
import { isFailed, PHASES, type Phase, stepsOf } from "./phases";
import { placeOf, type Stretch } from "./scale";

export const ROW_HEIGHT = 22;
const BAR_HEIGHT = 16;
const TOP = 4;
const THIN = 0.6;
const WORD_PX = 6.5;
const WORD_MARGIN = 10;

type Bar = { phase: Phase; x: number; y: number; width: number };
type Drawn = { bars: Bar[]; failed: [number, number][]; open: Omit<Bar, "phase"> | null };

type Props = {
  lane: Lane;
  stretches: readonly Stretch[];
  now: number;
  active: string | undefined;
};

/** The steps of all ranges of a lane: one path per step, so that thousands cost little. */
export function RangeBars({ lane, stretches, now, active }: Props) {
  const { bars, failed, open } = drawnOf(lane, stretches, now, active);
  return (
    <>
      {PHASES.map((phase) => (
        <path key={phase} fill={`url(#${phase})`} d={pathOf(bars, phase)} />
      ))}
      {bars
        .filter(({ phase, width }) => width > phase.length * WORD_PX + WORD_MARGIN)
        .map(({ phase, x, y, width }) => (
          <text key={`${phase} ${x}`} className={classes.word} x={x + width / 2} y={y + 12}>
            {phase}
          </text>
        ))}
      <path className={classes.cross} d={failed.map(crossOf).join("")} />
      {open !== null && (
        <rect
          className={classes.open}
          x={open.x - 1}
          y={open.y - 2}
          width={open.width + 2}
          height={BAR_HEIGHT + 4}
          rx="3"
        />
      )}
    </>
  );
}

function drawnOf(
  lane: Lane,
  stretches: readonly Stretch[],
  now: number,
  active: string | undefined,
): Drawn {
  const drawn: Drawn = { bars: [], failed: [], open: null };
  for (const { range, row } of lane.placed) {
    const y = TOP + row * ROW_HEIGHT;
    const bars = stepsOf(range, now).map(({ phase, from, to }) => {
      const x = placeOf(stretches, from);
      return { phase, x, y, width: placeOf(stretches, to) - x };
    });
    const x = bars[0]?.x ?? 0;
    const end = Math.max(x + 2, ...bars.map((bar) => bar.x + bar.width));
    const wide = bars.filter(({ width }) => width > THIN);
    drawn.bars.push(...(wide.length > 0 ? wide : bars.slice(0, 1)));
    if (isFailed(range)) {
      drawn.failed.push([end, y + BAR_HEIGHT / 2]);
    }
    if (range.id === active) {
      drawn.open = { x, y, width: end - x };
    }
  }
  return drawn;
}

/** Bars of one step; a thin line between two ranges keeps them apart. */
function pathOf(bars: readonly Bar[], phase: Phase): string {
  return bars
    .filter((bar) => bar.phase === phase)
    .map(({ x, y, width }) => {
      const size = Math.max(width - (width > 3 ? 1 : 0), 1).toFixed(1);
      return `M${x.toFixed(1)} ${y}h${size}v${BAR_HEIGHT}h-${size}z`;
    })
    .join("");
}

function crossOf([x, y]: [number, number]): string {
  const left = Math.max(x - 5, 5);
  return `M${left - 4} ${y - 4}l8 8M${left + 4} ${y - 4}l-8 8`;
}
