import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Age } from "@/components/Time";
import { visible } from "@/text/visible";
import classes from "./Overview.module.css";
import { replayWords } from "./replayWords";

const SHOWN = 6;

/** The newest changes of the supervisor, and what each waits for. */
export function Operations({ id }: { id: string }) {
  const query = useApi("/api/v1/operations", { query: { supervisor: id, limit: SHOWN } }, POLL_MS);
  return (
    <Panel title="Changes">
      <QueryView query={query}>
        {({ operations }) =>
          operations.length === 0 ? (
            <p className={classes.dim}>No change was made to it yet.</p>
          ) : (
            <ul className={classes.list}>
              {operations.map(({ id: operation, kind, state, waitsFor, at, askedBy, replay }) => (
                <li key={operation}>
                  <span className={classes.dim}>
                    <Age at={at} unknown="When it was wanted is not known." />
                  </span>
                  <span>
                    <strong>{kind}</strong> {state}
                    {waitsFor !== "" && ` · waits for ${visible(waitsFor)}`}
                    {replay && ` · ${replayWords(replay)}`}
                    {askedBy !== "" && (
                      <span className={classes.dim}>{` · ${visible(askedBy)}`}</span>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Panel>
  );
}
