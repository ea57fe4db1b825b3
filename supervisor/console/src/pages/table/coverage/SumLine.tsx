import type { Exact } from "@/api/json";
import { Icon } from "@/components/Icon";
import { exact } from "@/text/numbers";
import classes from "./SumLine.module.css";
import { type Counts, sumOf, WORDS } from "./shape";

type Props = {
  counts: Counts;
  /** The first offset that was to be read; left out for a sum of several partitions. */
  first?: Exact;
  next?: Exact;
};

/** How the committed offsets are accounted for, as a sum; unexplained ones are red. */
export function SumLine({ counts, first, next }: Props) {
  const { committed, parts, beyond, adds, unexplained } = sumOf(counts);
  return (
    <span className={classes.sum}>
      {first !== undefined && next !== undefined && (
        <span>{`first ${exact(first)} + committed ${exact(committed)} = next ${exact(next)}`}</span>
      )}
      <span>
        {first === undefined && `committed ${exact(committed)} `}
        {"= "}
        {parts.map(({ kind, offsets }) => `${WORDS[kind]} ${exact(offsets)}`).join(" + ")}
        {unexplained > 0n && ` + unexplained ${exact(unexplained)}`}
        {beyond > 0n && ` − ${exact(beyond)} behind it, to be read again`}
      </span>
      <Verdict unexplained={unexplained} adds={adds} />
    </span>
  );
}

/** Whether each offset is accounted for. */
export function Verdict({ unexplained, adds }: { unexplained: bigint; adds: boolean }) {
  const isWhole = unexplained === 0n && adds;
  return (
    <strong className={classes.verdict} data-whole={isWhole}>
      {`unexplained ${exact(unexplained)}`}
      <Icon name={isWhole ? "done" : "broken"} size={12} />
      {!adds && " the sum does not add up"}
    </strong>
  );
}
