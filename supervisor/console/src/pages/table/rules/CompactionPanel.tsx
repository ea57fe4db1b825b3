import { missing, useMe } from "@/api/me";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { COMPACTION_RULE, compactOnRequestOf } from "@/changes/tableRules";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Size } from "@/components/Size";
import { Age } from "@/components/Time";
import { durationWords } from "@/text/durations";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { openCompaction } from "./CompactionForm";
import classes from "./Rules.module.css";

/** How small files of the table are joined by themselves, in words, and what changes that. */
export function CompactionPanel({ name }: { name: string }) {
  const me = useMe();
  const query = useApi(COMPACTION_RULE, { path: { data_source: name } }, SAFETY_MS);
  return (
    <Panel title="Compaction">
      <QueryView query={query} lines={3}>
        {(rule) => {
          const { skipOffsetFromLatest: skip, targetRows, targetBytes, filesMin } = rule;
          return (
            <div className={classes.body}>
              <p className={classes.answer}>
                {skip == null
                  ? "Small files are joined on request alone."
                  : `Small files are joined by themselves, but for the last ${visible(durationWords(skip))}.`}
              </p>
              {skip != null && (
                <>
                  <dl className={classes.facts}>
                    <dt>Rows of a file</dt>
                    <dd>{targetRows == null ? "as the spec says" : exact(targetRows)}</dd>
                    <dt>Size of a file</dt>
                    <dd>
                      {targetBytes == null ? (
                        "as the spec says"
                      ) : (
                        <Size value={targetBytes} unknown="" />
                      )}
                    </dd>
                    <dt>Small files to join</dt>
                    <dd>{`${exact(filesMin ?? 2)} or more of one chunk of time`}</dd>
                  </dl>
                  <p className={classes.dim}>
                    Set by <Foreign>{rule.author ?? ""}</Foreign>,{" "}
                    <Age at={rule.setAt} unknown="It is not known when." />.
                  </p>
                </>
              )}
              <div className={classes.verbs}>
                <Barred
                  why={missing(me, neededFor("put", COMPACTION_RULE), name)}
                  onClick={() => openCompaction(name, rule)}
                >
                  {skip == null ? "Set a rule…" : "Change…"}
                </Barred>
                <Barred
                  why={
                    skip == null
                      ? "It has no rule."
                      : missing(me, neededFor("delete", COMPACTION_RULE), name)
                  }
                  onClick={() => openAction(compactOnRequestOf(name))}
                >
                  Take off…
                </Barred>
              </div>
            </div>
          );
        }}
      </QueryView>
    </Panel>
  );
}
