import { usePreferences } from "@/app/preferences";
import { Icon } from "@/components/Icon";
import { clock, span } from "@/text/times";
import classes from "./Chart.module.css";
import type { ChangeMark } from "./marks";
import { placeOf, type Stretch, ticksOf } from "./scale";

type Props = { stretches: readonly Stretch[]; marks: readonly ChangeMark[]; width: number };

const HEIGHT = 44;
const BASE = 42;
const MARK_Y = 3;
const WORD_PX = 7;
const MARK_PX = 14;
const MINUTE_MS = 60_000;
const TICK_HALF = 30;

/** Times of day, folded idle times, and the changes of the supervisor. */
export function Axis({ stretches, marks, width }: Props) {
  const { zone } = usePreferences();
  const ticks = ticksOf(stretches);
  const isShort = ticks.every((at) => at % MINUTE_MS === 0);
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true" focusable="false">
      <line className={classes.rule} x1="0" x2={width} y1={BASE} y2={BASE} />
      {ticks.map((at) => {
        const x = placeOf(stretches, at);
        const text = clock(new Date(at), zone);
        return (
          <g key={at}>
            <line className={classes.rule} x1={x} x2={x} y1={BASE - 5} y2={BASE} />
            {x > TICK_HALF && x < width - TICK_HALF && (
              <text className={classes.tick} x={x} y={BASE - 9} textAnchor="middle">
                {isShort ? text.slice(0, 5) : text}
              </text>
            )}
          </g>
        );
      })}
      {stretches
        .filter(({ isFolded }) => isFolded)
        .map(({ from, to, x, width: size }) => (
          <rect
            key={from}
            className={classes.fold}
            x={x}
            y={BASE - 6}
            width={size}
            height="6"
            fill="url(#idle)"
          >
            <title>{`idle for ${span(to - from)}`}</title>
          </rect>
        ))}
      {shownOf(stretches, marks, width).map(({ mark, x, word }) => (
        <g key={mark.id} className={classes.mark} data-tone={mark.tone}>
          <title>{`${clock(new Date(mark.at), zone)} ${mark.text}`}</title>
          <line x1={x} x2={x} y1={MARK_Y + 12} y2={BASE} />
          <g transform={`translate(${x - 6} ${MARK_Y})`}>
            <Icon name={mark.icon} size={12} />
          </g>
          {word !== "" && (
            <text x={x + 9} y={MARK_Y + 10}>
              {word}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

type ShownMark = { mark: ChangeMark; x: number; word: string };

/** Places marks; those at one place become one, the newest, and a word needs its room. */
function shownOf(
  stretches: readonly Stretch[],
  marks: readonly ChangeMark[],
  width: number,
): ShownMark[] {
  const shown: ShownMark[] = [];
  let next = width;
  for (const mark of [...marks].sort((one, other) => other.at - one.at)) {
    const x = Math.min(Math.max(placeOf(stretches, mark.at), MARK_PX / 2), width - MARK_PX / 2);
    if (shown.length > 0 && next - x < MARK_PX) {
      continue;
    }
    const fits = next - x > MARK_PX + mark.text.length * WORD_PX;
    shown.push({ mark, x, word: fits ? mark.text : "" });
    next = x;
  }
  return shown;
}
