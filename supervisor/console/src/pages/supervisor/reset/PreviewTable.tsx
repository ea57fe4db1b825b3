import { Checkbox } from "@mantine/core";
import { useState } from "react";
import type { Exact } from "@/api/json";
import type { Reading } from "@/components/action/reading";
import { Foreign } from "@/components/Foreign";
import { Unknown } from "@/components/Unknown";
import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { changedBetween, keyOf, type MovedPartition, type Preview, totalsOf } from "./effect";
import classes from "./ResetForm.module.css";

type Range = { from: Exact; to: Exact } | null | undefined;
type Props = { reading: Reading<Preview>; table: string | null; stay: readonly string[] };

/** From so many rows on those that nothing becomes of are left out at first. */
const MANY = 30;
const SHOWN = 300;

/** What a reset would do, partition by partition; what has changed since it was read is marked. */
export function PreviewTable({ reading, table, stay }: Props) {
  const shown = reading.newer ?? reading.read;
  const [all, setAll] = useState(false);
  if (shown === null) {
    return null;
  }
  const changed = changedBetween(reading.read, reading.newer);
  const isMany = shown.partitions.length > MANY;
  const fitting = shown.partitions.filter((each) => all || !isMany || hasEffect(each));
  const totals = totalsOf(shown);
  return (
    <div>
      {isMany && (
        <Checkbox
          label={`All ${exact(shown.partitions.length)} partitions, also those that nothing becomes of`}
          checked={all}
          onChange={({ currentTarget }) => setAll(currentTarget.checked)}
        />
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <section className={classes.scroller} tabIndex={0} aria-label="What it does">
        <table className={classes.table}>
          <thead>
            <tr>
              {["Partition", "Now", "To", "Skipped", "Lost (not in Kafka)", "Read again"].map(
                (name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {fitting.slice(0, SHOWN).map((each) => (
              <tr key={keyOf(each)} data-changed={changed.has(keyOf(each))}>
                <td>
                  <Foreign>{keyOf(each)}</Foreign>
                  {each.recreated && " (the old topic is gone)"}
                </td>
                <td>
                  {each.from === null ? (
                    <Unknown why="Nothing is committed yet." />
                  ) : (
                    exact(each.from)
                  )}
                </td>
                <td>{each.to === null ? <Unknown why="It exists no more." /> : exact(each.to)}</td>
                <Effect count={each.skipped} range={each.skippedRange} />
                <Effect count={each.lost} range={each.lostRange} />
                <Effect count={each.repeated} range={each.repeatedRange} />
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={3}>
                {fitting.length > SHOWN
                  ? `Sum; ${exact(fitting.length - SHOWN)} more are not shown`
                  : "Sum"}
              </td>
              <td>{exact(totals.skipped)}</td>
              <td>{exact(totals.lost)}</td>
              <td>
                {exact(totals.repeated)}
                {totals.repeated > 0n && table !== null && ` records twice in ${visible(table)}`}
              </td>
            </tr>
          </tfoot>
        </table>
      </section>
      {stay.length > 0 && (
        <p className={classes.dim}>
          {`${counted(stay.length, "partition stays", "partitions stay")} where they are: ${visible(stay[0] ?? "")}`}
        </p>
      )}
    </div>
  );
}

function Effect({ count, range }: { count: Exact; range: Range }) {
  return (
    <td>
      {range && (
        <span
          className={classes.range}
        >{`${exact(range.from)}–${exact(BigInt(range.to) - 1n)} `}</span>
      )}
      {BigInt(count) === 0n ? <span className={classes.dim}>0</span> : exact(count)}
    </td>
  );
}

function hasEffect({ from, to, skipped, lost, repeated }: MovedPartition): boolean {
  return from !== to || [skipped, lost, repeated].some((count) => count > 0);
}
