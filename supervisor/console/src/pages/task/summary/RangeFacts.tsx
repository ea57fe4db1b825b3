import { Count } from "@/components/Count";
import { TaskLink } from "@/components/TaskLink";
import { Clock } from "@/components/Time";
import { exact } from "@/text/numbers";
import { span } from "@/text/times";
import { visible } from "@/text/visible";
import type { Range } from "../data";
import classes from "./Summary.module.css";

const STEPS = ["reading", "pausing", "finishing", "publishing"] as const;

/** What became of the range that the task reads. */
export function RangeFacts({ range }: { range: Range }) {
  const steps = STEPS.flatMap((step) => {
    const millis = range.durations[step];
    return millis === null ? [] : [`${step} ${span(millis)}`];
  });
  return (
    <dl className={classes.facts}>
      <dt>State</dt>
      <dd>{visible(range.state.toLowerCase())}</dd>
      <dt>Opened</dt>
      <dd>
        <Clock at={range.openedAt} unknown="" />
        {` by version ${exact(range.specVersion)} of the spec`}
      </dd>
      {range.handoffWhy !== "" && (
        <>
          <dt>Handed off</dt>
          <dd>{visible(range.handoffWhy)}</dd>
        </>
      )}
      {steps.length > 0 && (
        <>
          <dt>Steps</dt>
          <dd>{steps.join(" · ")}</dd>
        </>
      )}
      <dt>Offsets</dt>
      <dd>
        <Count value={range.records} unknown="Its end is not fixed yet." />
      </dd>
      <dt>Published</dt>
      <dd>
        <Count value={range.rows} unit="rows" unknown="It is not published." />
        {range.publishedBy !== null && (
          <>
            {" by "}
            <TaskLink id={range.publishedBy} />
          </>
        )}
      </dd>
    </dl>
  );
}
