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
  /** Records that became no row; they are among what is published. */
  rejected?: Exact;
};

/** How the committed offsets are accounted for, as a sum; unexplained ones are red. */
export function SumLine({ counts, first, next, rejected = 0 }: Props) {
  const { committed, parts, beyond, adds, unexplained } = sumOf(counts);
  const inside = rejected > 0 ? ` (${exact(rejected)} rejected inside)` : "";
  const terms = parts.map(
    ({ kind, offsets }) => `${exact(offsets)} ${WORDS[kind]}${kind === "published" ? inside : ""}`,
  );
  return (
    <span className={classes.sum}>
      {first !== undefined && next !== undefined && (
        <span
          className={classes.offsets}
        >{`first ${exact(first)} + ${exact(committed)} committed = next ${exact(next)}`}</span>
      )}
      <span>
        {`${exact(committed)} committed = ${terms.join(" + ")}`}
        {beyond > 0n && ` − ${exact(beyond)} behind it, to be read again`}
        {" →"}
      </span>
      <Verdict unexplained={unexplained} adds={adds} />
    </span>
  );
}

/** Whether each offset is accounted for. */
function Verdict({ unexplained, adds }: { unexplained: bigint; adds: boolean }) {
  const isWhole = unexplained === 0n && adds;
  return (
    <strong className={classes.verdict} data-whole={isWhole}>
      {`${exact(unexplained)} unexplained`}
      <Icon name={isWhole ? "done" : "broken"} size={12} />
      {!adds && " the sum does not add up"}
    </strong>
  );
}
