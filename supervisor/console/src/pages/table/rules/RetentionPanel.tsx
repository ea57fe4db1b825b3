import { missing, useMe } from "@/api/me";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { keepForeverOf, RETENTION } from "@/changes/tableRules";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { TableLink } from "@/components/TableLink";
import { Age } from "@/components/Time";
import { durationWords } from "@/text/durations";
import { visible } from "@/text/visible";
import { openRetention } from "./RetentionForm";
import classes from "./Rules.module.css";

/** How long the table keeps its rows, in words, and what changes that. */
export function RetentionPanel({ name }: { name: string }) {
  const me = useMe();
  const query = useApi(RETENTION, { path: { data_source: name } }, SAFETY_MS);
  return (
    <Panel title="Retention">
      <QueryView query={query} lines={3}>
        {({ keepFor, ruleOf, author, setAt }) => (
          <div className={classes.body}>
            <p className={classes.answer}>
              {keepFor === null
                ? "Rows are kept for ever."
                : `Rows are kept for ${visible(durationWords(keepFor))}, by the time in them.`}
            </p>
            {keepFor !== null && (
              <p className={classes.dim}>
                A file is taken out once its whole interval is older. Set by{" "}
                <Foreign>{author ?? ""}</Foreign>,{" "}
                <Age at={setAt} unknown="It is not known when." />.
              </p>
            )}
            {ruleOf != null && ruleOf !== name && (
              <p>
                The rule is that of <TableLink name={ruleOf} />: the records that could not be read
                go by it, until this table has one of its own.
              </p>
            )}
            <div className={classes.verbs}>
              <Barred
                why={missing(me, neededFor("put", RETENTION), name)}
                onClick={() => openRetention(name, keepFor ?? "")}
              >
                {keepFor === null ? "Set a rule…" : "Change…"}
              </Barred>
              <Barred
                why={whyNot(keepFor, ruleOf ?? null, name, me)}
                onClick={() => openAction(keepForeverOf(name))}
              >
                Take off…
              </Barred>
            </div>
          </div>
        )}
      </QueryView>
    </Panel>
  );
}

function whyNot(
  keepFor: string | null,
  ruleOf: string | null,
  name: string,
  me: ReturnType<typeof useMe>,
): string | null {
  if (keepFor === null) {
    return "It has no rule.";
  }
  return ruleOf === null || ruleOf === name
    ? missing(me, neededFor("delete", RETENTION), name)
    : `The rule is that of ${visible(ruleOf)}: take it off there.`;
}
