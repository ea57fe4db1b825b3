import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { Lasting } from "@/components/Time";
import type { Execution } from "./data";
import classes from "./execution.module.css";
import { RunVerbs } from "./RunVerbs";
import { labelOf } from "./tree";
import { waitsOf } from "./waits";
import { waitVerb } from "./words";

/** Waits about which the page of executors says more. */
const OF_EXECUTORS = ["kafka", "executor"];

type Props = { execution: Execution; types: ReadonlyMap<string, string> };

/** What it waits for and since when, with what can be done about it; or why it has failed. */
export function Waits({ execution, types }: Props) {
  const { state, error } = execution;
  const waits = waitsOf(execution);
  return (
    <>
      {error !== "" && (
        <p className={classes.failed} role="alert">
          <Foreign>{error}</Foreign>
        </p>
      )}
      {waits.length > 0 && (
        <section className={classes.waits} aria-label="What it waits for">
          <ul>
            {waits.map(({ kind, what, since, run }) => (
              <li key={run?.id ?? `${state} ${kind}`}>
                <span className={classes.what}>
                  {run === null ? (
                    "It waits for "
                  ) : (
                    <>
                      <strong>
                        <Foreign>{labelOf(run)}</Foreign>
                      </strong>
                      {` ${waitVerb(run)} `}
                    </>
                  )}
                  <Foreign>{what}</Foreign>
                  {" · "}
                  <span className={classes.dim}>
                    <Lasting at={since} unknown="Since when is not known." />
                  </span>
                  {OF_EXECUTORS.includes(kind) && (
                    <>
                      {" "}
                      <Link className={classes.inText} to="/executors">
                        executors
                      </Link>
                    </>
                  )}
                  {run?.waitsFor?.kind === "child" && (
                    <>
                      {" "}
                      <Link
                        className={classes.inText}
                        to="/executions"
                        search={{ parent: execution.id }}
                      >
                        its executions
                      </Link>
                    </>
                  )}
                </span>
                {run !== null && (
                  <span className={classes.buttons}>
                    <RunVerbs execution={execution} run={run} type={types.get(run.step)} />
                  </span>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
