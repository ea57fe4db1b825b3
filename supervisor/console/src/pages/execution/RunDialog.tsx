import { Link } from "@tanstack/react-router";
import { DialogFrame } from "@/components/DialogFrame";
import { Foreign } from "@/components/Foreign";
import { FlowMark } from "@/components/flow/FlowMark";
import { Took } from "@/components/flow/Took";
import { JsonText } from "@/components/JsonText";
import { Due, Lasting, Span, Stamp } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import { Artifacts } from "./Artifacts";
import type { Attempt, Execution, TaskRun } from "./data";
import classes from "./execution.module.css";
import { RunVerbs } from "./RunVerbs";
import { labelOf } from "./tree";

type Props = {
  execution: Execution;
  types: ReadonlyMap<string, string>;
  run: TaskRun | undefined;
  onClose: () => void;
};

/** A task run: what it waits for, its attempts with their errors, and what it gave. */
export function RunDialog({ execution, types, run, onClose }: Props) {
  return (
    <DialogFrame
      title={run === undefined ? "Step" : `Step ${visible(labelOf(run))}`}
      isOpen={run !== undefined}
      isWide
      onClose={onClose}
    >
      {run !== undefined && (
        <div className={classes.dialog}>
          <Facts run={run} type={types.get(run.step)} execution={execution.id} />
          <div className={classes.buttons}>
            <RunVerbs execution={execution} run={run} type={types.get(run.step)} onOpen={onClose} />
          </div>
          {run.attempts.length > 0 && <Attempts attempts={run.attempts} />}
          {Object.keys(run.outputs).length > 0 && (
            <>
              <h3>Outputs</h3>
              <JsonText value={run.outputs} label="Outputs of the step" />
              {run.artifacts !== undefined && run.artifacts.length > 0 && (
                <Artifacts execution={execution.id} artifacts={run.artifacts} />
              )}
            </>
          )}
        </div>
      )}
    </DialogFrame>
  );
}

type FactsProps = { run: TaskRun; type: string | undefined; execution: string };

function Facts({ run, type, execution }: FactsProps) {
  return (
    <dl className={classes.facts}>
      <dt>State</dt>
      <dd>
        <FlowMark state={run.state} />
      </dd>
      <dt>Type</dt>
      <dd>{type === undefined ? <Unknown why="Its flow is not read yet." /> : visible(type)}</dd>
      <dt>Began</dt>
      <dd>
        <Stamp at={run.createdAt} unknown="When is not known." />
      </dd>
      <dt>Took</dt>
      <dd>
        <Took from={run.createdAt} to={run.endedAt} unknown="Not known." />
      </dd>
      {run.waitsFor !== null && run.endedAt === null && (
        <>
          <dt>Waits for</dt>
          <dd>
            <Foreign>{run.waitsFor.what}</Foreign>, <Lasting at={run.waitsFor.since} unknown="" />
            {run.waitsFor.until !== null && (
              <>
                , until <Stamp at={run.waitsFor.until} unknown="" />
              </>
            )}
          </dd>
        </>
      )}
      {run.retryAt !== null && run.state === "RETRYING" && (
        <>
          <dt>Next try</dt>
          <dd>
            <Due at={run.retryAt} unknown="" />
          </dd>
        </>
      )}
      {run.error !== null && (
        <>
          <dt>Error</dt>
          <dd>
            <code>{visible(run.error.code)}</code> <Foreign>{run.error.message}</Foreign>
          </dd>
        </>
      )}
      {type === "subflow" && (
        <>
          <dt>Executions</dt>
          <dd>
            <Link to="/executions" search={{ parent: execution }}>
              those that its steps started
            </Link>
          </dd>
        </>
      )}
    </dl>
  );
}

function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys have to reach it
    <section className={classes.attempts} tabIndex={0} aria-label="Attempts">
      <table>
        <thead>
          <tr>
            <th scope="col">Attempt</th>
            <th scope="col">State</th>
            <th scope="col">Submitted</th>
            <th scope="col">Waited for a runner</th>
            <th scope="col">Ran</th>
            <th scope="col">Runner</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((each) => (
            <tr key={each.number}>
              <td>{String(each.number)}</td>
              <td>
                <FlowMark state={each.state} />
              </td>
              <td>
                <Stamp at={each.submittedAt} unknown="When is not known." />
              </td>
              <td>
                <Span
                  millis={
                    each.beganAt === null
                      ? null
                      : Date.parse(each.beganAt) - Date.parse(each.submittedAt)
                  }
                  unknown="No runner has taken it."
                />
              </td>
              <td>
                <Took from={each.beganAt} to={each.endedAt} unknown="It did not run." />
              </td>
              <td>
                {each.runner === null ? (
                  <Unknown why="No runner has taken it." />
                ) : (
                  <Foreign>{each.runner}</Foreign>
                )}
              </td>
              <td>
                {each.error === null ? (
                  <Unknown why="It has none." />
                ) : (
                  <>
                    <code>{visible(each.error.code)}</code> <Foreign>{each.error.message}</Foreign>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
