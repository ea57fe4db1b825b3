import { FlowMark } from "@/components/flow/FlowMark";
import { ExecutionLink, FlowLink } from "@/components/flow/links";
import { hasEnded } from "@/components/flow/looks";
import { Took } from "@/components/flow/Took";
import { Ago, Due } from "@/components/Time";
import { visible } from "@/text/visible";
import type { Execution } from "./data";
import classes from "./execution.module.css";
import { triggerWords } from "./words";

/** The answer first: its state and since when, of which flow, who started it. */
export function Head({ execution }: { execution: Execution }) {
  const { state, flow, flowVersion, createdAt, beganAt, endedAt, parent, dueAt, warnedAt } =
    execution;
  const labels = Object.entries(execution.labels);
  return (
    <div className={classes.line}>
      <FlowMark state={state} />
      <span>
        flow <FlowLink flow={flow} />, version {String(flowVersion)}
      </span>
      <span>
        started <Ago at={createdAt} unknown="" /> {visible(triggerWords(execution))}
        {parent !== null && (
          <>
            , <ExecutionLink id={parent} />
          </>
        )}
      </span>
      <span>
        {hasEnded(state) ? "took " : "runs "}
        <Took from={beganAt} to={endedAt} unknown="None of its steps has begun." />
      </span>
      {endedAt !== null && (
        <span>
          ended <Ago at={endedAt} unknown="" />
        </span>
      )}
      {warnedAt !== null && (
        <span>
          longer than its flow expects since <Ago at={warnedAt} unknown="" />
        </span>
      )}
      {dueAt !== null && endedAt === null && (
        <span>
          its timeout is over <Due at={dueAt} unknown="" />
        </span>
      )}
      {labels.length > 0 && (
        <span>{`labels ${labels.map(([name, value]) => visible(`${name}=${value}`)).join(", ")}`}</span>
      )}
    </div>
  );
}
