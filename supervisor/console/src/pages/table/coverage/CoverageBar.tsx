import { Tooltip } from "@mantine/core";
import { useId } from "react";
import { exact } from "@/text/numbers";
import classes from "./CoverageBar.module.css";
import { type Covered, currentOf, KINDS, type Kind, piecesOf, type Run, WORDS } from "./shape";

const NAMED = 12;

/** What became of the offsets of one partition, from its first one to the last that was read. */
export function CoverageBar({ partition }: { partition: Covered }) {
  const id = useId();
  const { firstOffset, nextOffset, more } = partition;
  const runs = currentOf(partition.runs);
  const pieces = piecesOf(runs, more ? (runs[0]?.from ?? firstOffset) : firstOffset, nextOffset);
  const words = wordsOf(runs);
  return (
    <Tooltip label={words}>
      <svg className={classes.bar} role="img" aria-label={words}>
        <Patterns id={id} />
        {pieces.map(({ kind, at, width }) => (
          <rect
            key={`${kind} ${at}`}
            data-kind={kind}
            x={percent(at)}
            width={percent(width)}
            height="100%"
            fill={fillOf(id, kind)}
          />
        ))}
      </svg>
    </Tooltip>
  );
}

/** Says what the colours and patterns are. */
export function BarKey({ kinds = KINDS }: { kinds?: readonly Kind[] }) {
  const id = useId();
  return (
    <div className={classes.key}>
      {kinds.map((kind) => (
        <span key={kind}>
          <svg className={classes.bar} aria-hidden="true" focusable="false">
            <Patterns id={`${id}${kind}`} />
            <rect data-kind={kind} width="100%" height="100%" fill={fillOf(`${id}${kind}`, kind)} />
          </svg>
          {WORDS[kind]}
        </span>
      ))}
    </div>
  );
}

const STRIPES: Partial<Record<Kind, { turn: number; size: number; line: number }>> = {
  repeated: { turn: 0, size: 5, line: 2 },
  skipped: { turn: 45, size: 6, line: 2 },
  lost: { turn: -45, size: 5, line: 3 },
  publishing: { turn: 90, size: 5, line: 3 },
};

/** Stripes, so that no kind is known by its colour alone. */
function Patterns({ id }: { id: string }) {
  return (
    <defs>
      {Object.entries(STRIPES).map(([kind, { turn, size, line }]) => (
        <pattern
          key={kind}
          id={`${id}-${kind}`}
          width={size}
          height={size}
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${turn})`}
        >
          <rect className={classes.ground} width={size} height={size} />
          <rect data-stripe={kind} width={line} height={size} />
        </pattern>
      ))}
    </defs>
  );
}

function fillOf(id: string, kind: Kind): string | undefined {
  return kind in STRIPES ? `url(#${id}-${kind})` : undefined;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

function wordsOf(runs: readonly Run[]): string {
  if (runs.length === 0) {
    return "No offset was read yet.";
  }
  const named = runs
    .slice(-NAMED)
    .map(({ from, to, kind }) => `${exact(from)} to ${exact(to)} ${WORDS[kind] ?? kind}`);
  const rest = runs.length - named.length;
  return [...(rest > 0 ? [`${exact(rest)} older runs`] : []), ...named].join(", ");
}
