import { Button } from "@mantine/core";
import { Mark } from "@/components/Mark";
import { Panel } from "@/components/Panel";
import { ProblemNote } from "@/components/ProblemNote";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import { EffectMark } from "../EffectMark";
import type { Trouble } from "../editor/problems";
import { fieldName, shown } from "../facts";
import type { Judging } from "../judge";
import classes from "./Pane.module.css";

type Props = {
  judging: Judging;
  troubles: readonly Trouble[];
  /** Why nothing is judged; null: it is. */
  lack: string | null;
  /** Whether the changes are listed elsewhere on the page. */
  isBrief: boolean;
  onFix: (trouble: Trouble) => void;
  onShow: (trouble: Trouble) => void;
};

/** What the overlord thinks of the draft: what is wrong, else what storing it would do. */
export function Verdict({ judging, troubles, lack, isBrief, onFix, onShow }: Props) {
  return (
    <Panel title="What saving would do" aside={<State judging={judging} lack={lack} />}>
      <div className={classes.body} aria-busy={!judging.isSettled}>
        {lack !== null && <p className={classes.dim}>{lack}</p>}
        {"error" in judging.read && (
          <p>
            <strong>This is no JSON: </strong>
            {visible(judging.read.error)}
          </p>
        )}
        {judging.problem !== null && <ProblemNote problem={judging.problem} />}
        {troubles.length > 0 ? (
          <Troubles troubles={troubles} onFix={onFix} onShow={onShow} />
        ) : (
          "document" in judging.read &&
          judging.judged && <Outcome judged={judging.judged} isBrief={isBrief} />
        )}
      </div>
    </Panel>
  );
}

function State({ judging, lack }: Pick<Props, "judging" | "lack">) {
  if ("error" in judging.read) {
    return (
      <Mark tone="broken" icon="broken">
        no JSON
      </Mark>
    );
  }
  if (lack !== null || judging.judged === undefined) {
    return null;
  }
  const { errors } = judging.judged;
  return errors.length > 0 ? (
    <Mark tone="broken" icon="broken">
      {counted(errors.length, "problem")}
    </Mark>
  ) : (
    <Mark tone="good" icon="done">
      valid
    </Mark>
  );
}

function Troubles({ troubles, onFix, onShow }: Pick<Props, "troubles" | "onFix" | "onShow">) {
  return (
    <ul className={classes.troubles} aria-label="Problems">
      {troubles.map((trouble) => (
        <li key={`${trouble.pointer} ${trouble.message}`}>
          <button type="button" className={classes.place} onClick={() => onShow(trouble)}>
            {visible(trouble.pointer === "" ? "the whole spec" : fieldName(trouble.pointer))}
          </button>
          <p>{visible(trouble.message)}</p>
          {trouble.hint !== "" && <p className={classes.dim}>{visible(trouble.hint)}</p>}
          {trouble.fix !== null && (
            <Button size="compact-xs" onClick={() => onFix(trouble)}>
              {visible(trouble.fix.label)}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

type OutcomeProps = { judged: NonNullable<Judging["judged"]>; isBrief: boolean };

function Outcome({ judged, isBrief }: OutcomeProps) {
  return (
    <>
      <p className={classes.sentence}>{visible(sentenceOf(judged.restartsWhat))}</p>
      {!isBrief && judged.changes.length > 0 && (
        <ul className={classes.changes} aria-label="Changes">
          {judged.changes.map((change) => (
            <li key={change.field}>
              <span className={classes.change}>
                <strong>{visible(fieldName(change.field))}</strong>
                <span className={classes.values}>
                  <code>{shown(change.from)}</code> to <code>{shown(change.to)}</code>
                </span>
              </span>
              <EffectMark effect={change.effect} />
            </li>
          ))}
        </ul>
      )}
      {judged.warnings.map((warning) => (
        <p key={warning} className={classes.warning}>
          {visible(warning)}
        </p>
      ))}
    </>
  );
}

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
