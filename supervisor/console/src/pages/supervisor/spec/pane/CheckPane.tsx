import { Mark } from "@/components/Mark";
import { Panel } from "@/components/Panel";
import { ProblemNote } from "@/components/ProblemNote";
import { Shape } from "@/components/Shape";
import { Unknown } from "@/components/Unknown";
import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import type { Checking } from "../check";
import { shown } from "../facts";
import type { Judged } from "../judge";
import classes from "./Pane.module.css";

type Props = { checking: Checking; text: string };

/** What Kafka holds for the draft, and the rows that would come out of it. */
export function CheckPane({ checking, text }: Props) {
  const { checked, problem, isRunning, waitsS } = checking;
  const isOld = checked !== undefined && checked.text !== text;
  return (
    <Panel
      title="Check"
      aside={isOld && !isRunning ? <span className={classes.dim}>of an earlier draft</span> : null}
    >
      <div className={classes.body} role="status" aria-label="Check">
        {waitsS !== null && (
          <p>Others look at topics now: tried again in {counted(waitsS, "second")}.</p>
        )}
        {isRunning && waitsS === null && <Shape lines={3} />}
        {!isRunning && problem !== null && <ProblemNote problem={problem} isStrip />}
        {!isRunning && problem === null && checked === undefined && (
          <p className={classes.dim}>
            Check looks at the topic and reads some records as rows. Nothing is stored.
          </p>
        )}
        {!isRunning && problem === null && checked !== undefined && (
          <Result judged={checked.judged} />
        )}
      </div>
    </Panel>
  );
}

function Result({ judged }: { judged: Judged }) {
  const { connect, sample, sampleError } = judged;
  if (!judged.valid) {
    return <p>The spec has problems: nothing was looked at.</p>;
  }
  return (
    <>
      {connect === null || connect.reachable ? (
        <Topics connect={connect} />
      ) : (
        <>
          <Mark tone="risk" icon="risk">
            the topic cannot be read
          </Mark>
          <p>{visible(connect.error ?? "")}</p>
        </>
      )}
      {sample && <Rows sample={sample} />}
      {sampleError && (
        <p>
          <strong>No rows: </strong>
          {visible(sampleError)}
        </p>
      )}
    </>
  );
}

function Topics({ connect }: { connect: Judged["connect"] }) {
  return (connect?.topics ?? []).map(({ topic, partitions }) => {
    const records = partitions.reduce(
      (sum, { earliest, latest }) => sum + BigInt(latest) - BigInt(earliest),
      0n,
    );
    return (
      <p key={topic}>
        Topic <bdi>{visible(topic)}</bdi>: {counted(partitions.length, "partition")}, offsets of{" "}
        {exact(records)} records
      </p>
    );
  });
}

type Sample = NonNullable<Judged["sample"]>;

function Rows({ sample }: { sample: Sample }) {
  const columns = sample.logicalSegmentSchema;
  return (
    <>
      <p>
        {counted(sample.numRowsRead, "record")} read, {exact(sample.numRowsIndexed)} of them become
        rows
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys */}
      <section className={classes.scroller} tabIndex={0} aria-label="Rows of the sample">
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">offset</th>
              {columns.map(({ name }) => (
                <th key={name} scope="col">
                  {visible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sample.data.map((row) => (
              <tr key={`${row.topic} ${row.partition} ${row.offset}`}>
                <td>
                  {row.partition}:{row.offset}
                </td>
                {row.parsed ? (
                  columns.map(({ name }) => <Cell key={name} value={row.parsed?.[name]} />)
                ) : (
                  <td colSpan={columns.length} className={classes.why}>
                    {visible(row.error ?? row.reason ?? "no row")}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Cell({ value }: { value: unknown }) {
  return (
    <td>
      {value === undefined || value === null ? (
        <Unknown why="The row has no value there." />
      ) : (
        shown(value)
      )}
    </td>
  );
}
