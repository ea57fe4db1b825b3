import { usePreferences } from "@/app/preferences";
import { Icon } from "@/components/Icon";
import { clock, span } from "@/text/times";
import classes from "./Chart.module.css";
import type { ChangeMark } from "./marks";
import { placed } from "./placing";
import { placeOf, type Stretch, ticksOf } from "./scale";

type Props = { stretches: readonly Stretch[]; marks: readonly ChangeMark[]; width: number };

const HEIGHT = 62;
const BASE = 60;
const VERSIONS_Y = 3;
const MARKS_Y = 21;
const MINUTE_MS = 60_000;
const TICK_HALF = 30;

/** Times of day, folded idle times, the versions of the spec, and other changes of the supervisor. */
export function Axis({ stretches, marks, width }: Props) {
  const { zone } = usePreferences();
  const ticks = ticksOf(stretches);
  const versions = marks.filter(({ version }) => version !== null);
  const others = marks.filter(({ version }) => version === null);
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
      <Marks y={VERSIONS_Y} marks={versions} {...{ stretches, width }} />
      <Marks y={MARKS_Y} marks={others} {...{ stretches, width }} />
    </svg>
  );
}

/** One line of marks, each with all that it stands for in its title. */
function Marks({ y, stretches, marks, width }: Props & { y: number }) {
  const { zone } = usePreferences();
  return placed(marks, (at) => placeOf(stretches, at), width).map(
    ({ marks: own, x, word, isBefore }) => (
      <g key={own[0].id} className={classes.mark} data-tone={own[0].tone}>
        <title>
          {own.map(({ at, title }) => `${clock(new Date(at), zone)} ${title}`).join("\n")}
        </title>
        <line x1={x} x2={x} y1={y + 12} y2={BASE} />
        <g transform={`translate(${x - 6} ${y})`}>
          <Icon name={own[0].icon} size={12} />
        </g>
        {word !== "" && (
          <text x={isBefore ? x - 9 : x + 9} y={y + 10} textAnchor={isBefore ? "end" : "start"}>
            {word}
          </text>
        )}
      </g>
    ),
  );
}
