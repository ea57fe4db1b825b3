import { Foreign } from "@/components/Foreign";
import { StateMark } from "@/components/Mark";
import { Prose } from "@/components/Prose";
import { QueryView } from "@/components/QueryView";
import { Remedies } from "@/components/remedy/Remedies";
import { Ago, Lasting } from "@/components/Time";
import { type Explanation, type ListedRow, useExplanation } from "./data";
import classes from "./Head.module.css";
import { sentencesOf } from "./sentences";

type HeadProps = { id: string; row: ListedRow | null | undefined; pollMs: number };

/** Detailed states in which what went wrong before is over. */
const CALM = new Set(["RUNNING", "IDLE", "SUSPENDED", "COMPLETED"]);

/** The answer first: state, since when, why in words, and the steps that may help as buttons. */
export function Head({ id, row, pollMs }: HeadProps) {
  const query = useExplanation(id, pollMs);
  return (
    <QueryView query={query} lines={2}>
      {(explanation) => <Words explanation={explanation} row={row} />}
    </QueryView>
  );
}

type Props = { explanation: Explanation; row: ListedRow | null | undefined };

function Words({ explanation, row }: Props) {
  const { supervisorId, state, detailedState, healthy, sentences, remedies = [] } = explanation;
  const [first, ...others] = sentencesOf(sentences, CALM.has(detailedState));
  const since = row?.since ?? first?.since;
  return (
    <div className={classes.head}>
      <div className={classes.line}>
        <StateMark state={state} detailed={detailedState} healthy={healthy} />
        <span>
          <Lasting at={since} unknown="When this state began is not known." />
        </span>
        {row && (
          <span>
            version {row.version}
            {row.versionBy !== "" && (
              <>
                {" by "}
                <Foreign>{row.versionBy}</Foreign>
              </>
            )}
            {", "}
            <Ago at={row.versionAt} unknown="When it was stored is not known." />
          </span>
        )}
        {row?.stream && (
          <span>
            topic <Foreign>{row.stream}</Foreign> into table{" "}
            <Foreign>{row.dataSource ?? ""}</Foreign>
          </span>
        )}
      </div>
      {first !== undefined && (
        <p className={classes.why}>
          <Prose>{first.text}</Prose>
        </p>
      )}
      {others.map(({ text }) => (
        <p key={text} className={classes.more}>
          <Prose>{text}</Prose>
        </p>
      ))}
      <div className={classes.remedies}>
        {remedies.map((remedy) => (
          <Remedies
            key={`${remedy.action} ${remedy.label}`}
            remedies={[remedy]}
            table={row?.dataSource ?? null}
            supervisor={supervisorId}
          />
        ))}
      </div>
    </div>
  );
}
