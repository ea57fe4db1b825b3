import { Foreign } from "@/components/Foreign";
import { ExecutionLink } from "@/components/flow/links";
import { Mark } from "@/components/Mark";
import { Age } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { known } from "@/text/known";
import type { Executor } from "./data";
import classes from "./executors.module.css";
import { callWords, numbersOf } from "./words";

const SHOWN = 8;
const STATES = {
  RUNNING: { tone: "good", icon: "good", word: "running" },
  WAITING: { tone: "risk", icon: "waiting", word: "waiting" },
  SILENT: { tone: "broken", icon: "broken", word: "silent" },
} as const;

/** Every executor with its state, the partitions that it works and the calls that it makes. */
export function ExecutorTable({ executors }: { executors: readonly Executor[] }) {
  return (
    <table className={classes.table} aria-label="Executors">
      <thead>
        <tr>
          <th scope="col">Executor</th>
          <th scope="col">State</th>
          <th scope="col">Works partitions</th>
          <th scope="col">Makes</th>
        </tr>
      </thead>
      <tbody>
        {executors.map((each) => (
          <tr key={each.name}>
            <td>
              <Foreign>{each.name}</Foreign>
              <div className={classes.dim}>
                <Foreign>{each.url}</Foreign>
              </div>
            </td>
            <td>
              <Stand executor={each} />
            </td>
            <td>
              {each.partitions.length === 0 ? (
                <Unknown why="It works none." />
              ) : (
                numbersOf(each.partitions)
              )}
            </td>
            <td>
              <Makes executor={each} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Stand({ executor: { state, heardAt, reason } }: { executor: Executor }) {
  const look = known(STATES, state);
  return (
    <>
      <Mark tone={look?.tone ?? "note"} icon={look?.icon ?? "note"}>
        {look?.word ?? state}
      </Mark>
      {state === "SILENT" && (
        <>
          {" for "}
          <Age at={heardAt} unknown="Since when is not known." />
        </>
      )}
      {reason !== "" && (
        <div className={classes.dim}>
          <Foreign>{reason}</Foreign>
        </div>
      )}
    </>
  );
}

function Makes({ executor: { makes, state } }: { executor: Executor }) {
  if (makes.length === 0) {
    return state === "SILENT" ? (
      <Unknown why="It made no call when it was heard last." />
    ) : (
      <span className={classes.dim}>no call now</span>
    );
  }
  return (
    <ul className={classes.calls}>
      {makes.slice(0, SHOWN).map((call) => (
        <li key={`${call.execution} ${call.run} ${call.attempt} ${call.look}`}>
          <ExecutionLink id={call.execution} />{" "}
          <span className={classes.dim}>{callWords(call)}</span>
        </li>
      ))}
      {makes.length > SHOWN && (
        <li className={classes.dim}>{`and ${makes.length - SHOWN} more`}</li>
      )}
    </ul>
  );
}
