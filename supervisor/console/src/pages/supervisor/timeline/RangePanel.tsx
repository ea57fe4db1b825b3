import { Button } from "@mantine/core";
import type { Exact } from "@/api/json";
import { Foreign } from "@/components/Foreign";
import { SidePanel } from "@/components/SidePanel";
import { Unknown } from "@/components/Unknown";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { Attempts } from "./Attempts";
import type { Range } from "./phases";
import { RangePlans } from "./RangePlans";
import { RangeMark } from "./RangeTable";
import { Steps } from "./Steps";
import classes from "./Timeline.module.css";

type Props = {
  id: string;
  supervisor: string;
  /** Undefined: it is not in the window. */
  range: Range | undefined;
  onClose: () => void;
  /** Looks through a wider window; null: there is none. */
  onWiden: (() => void) | null;
};

/** All that is known of one range. */
export function RangePanel({ id, supervisor, range, onClose, onWiden }: Props) {
  return (
    <SidePanel title={<Foreign>{`Range ${id}`}</Foreign>} onClose={onClose}>
      {range === undefined ? (
        <>
          <p className={classes.words}>
            It is not among the ranges of this window, or is not known any more.
          </p>
          {onWiden !== null && <Button onClick={onWiden}>Look through 24 hours</Button>}
        </>
      ) : (
        <>
          <p className={classes.words}>
            <RangeMark range={range} /> · group {range.group} of {range.taskCount} · spec version{" "}
            {range.specVersion}
          </p>
          {range.handoffWhy !== "" && (
            <p className={classes.words}>It was handed off: {visible(range.handoffWhy)}.</p>
          )}
          <Offsets range={range} />
          <Steps range={range} />
          <Attempts attempts={range.attempts} />
          <Digests range={range} />
          <RangePlans range={range} supervisor={supervisor} />
        </>
      )}
    </SidePanel>
  );
}

function Offsets({ range }: { range: Range }) {
  const { start, end, records, rows, rejected } = range;
  return (
    <>
      <p className={classes.words}>
        {records === null ? "Its end is not fixed yet." : `${exact(records)} offsets`}
        {rows !== null &&
          ` became ${exact(rows)} rows and ${exact(rejected ?? 0)} rejected records`}
      </p>
      <table className={classes.list}>
        <caption>Offsets</caption>
        <thead>
          <tr>
            <th scope="col">Partition</th>
            <th scope="col" data-align="right">
              From
            </th>
            <th scope="col" data-align="right">
              Before
            </th>
            <th scope="col" data-align="right">
              Offsets
            </th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(start).map(([partition, from]) => {
            const to = end?.[partition];
            return (
              <tr key={partition}>
                <td>
                  <Foreign>{partition}</Foreign>
                </td>
                <td data-align="right">{exact(from)}</td>
                <td data-align="right">
                  {to === undefined ? <Unknown why="Its end is not fixed yet." /> : exact(to)}
                </td>
                <td data-align="right">
                  {to === undefined ? (
                    <Unknown why="Its end is not fixed yet." />
                  ) : (
                    exact(between(from, to))
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

function between(from: Exact, to: Exact): bigint {
  return BigInt(to) - BigInt(from);
}

function Digests({ range: { digest, diverged, publishedBy } }: { range: Range }) {
  if (publishedBy === null) {
    return null;
  }
  return (
    <div className={classes.words}>
      <p>
        Published by <Foreign>{publishedBy}</Foreign>
        {digest === null ? "; its digest is not known." : ", digest "}
        {digest !== null && <code>{visible(digest)}</code>}
      </p>
      {diverged.map(({ taskId, found, records, digest: other }) => (
        <p key={taskId}>
          <Foreign>{taskId}</Foreign> came to {visible(found)}: {exact(records)} records, digest{" "}
          <code>{visible(other)}</code>
        </p>
      ))}
    </div>
  );
}
