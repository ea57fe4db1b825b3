import { Tooltip } from "@mantine/core";
import type { Exact } from "@/api/json";
import { Unknown } from "@/components/Unknown";
import { exact } from "@/text/numbers";
import { type Kind, type Offsets, piecesOf } from "./bar";
import classes from "./OffsetBar.module.css";

const WORDS: Record<Kind, string> = {
  published: "published",
  read: "read, not published yet",
  unread: "unread",
  open: "behind an open transaction",
};
const KINDS = Object.keys(WORDS) as Kind[];

/** The retained log of one partition on a scale of its own, with each offset in its title. */
export function OffsetBar({ offsets, unknown }: { offsets: Offsets; unknown: string }) {
  const pieces = piecesOf(offsets);
  if (pieces === null) {
    return <Unknown why={unknown} />;
  }
  const words = wordsOf(offsets);
  return (
    <Tooltip label={words}>
      <svg
        className={classes.bar}
        viewBox="0 0 1000 10"
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        {pieces.map(({ kind, from, to }) => (
          <rect key={kind} data-kind={kind} x={from} width={Math.max(to - from, 3)} height="10" />
        ))}
      </svg>
    </Tooltip>
  );
}

/** Says what the colours are. */
export function BarKey() {
  return (
    <div className={classes.key}>
      {KINDS.map((kind) => (
        <span key={kind}>
          <svg className={classes.bar} viewBox="0 0 10 10" aria-hidden="true" focusable="false">
            <rect data-kind={kind} width="10" height="10" />
          </svg>
          {WORDS[kind]}
        </span>
      ))}
    </div>
  );
}

function wordsOf({ earliest, committed, reading, stable, latest }: Offsets): string {
  const all: [string, Exact | null][] = [
    ["earliest", earliest],
    ["committed", committed],
    ["read up to", reading],
    ["stable", stable],
    ["latest", latest],
  ];
  return all
    .filter(([, offset]) => offset !== null)
    .map(([name, offset]) => `${name} ${exact(offset ?? 0)}`)
    .join(", ");
}
