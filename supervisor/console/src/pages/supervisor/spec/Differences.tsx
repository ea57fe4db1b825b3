import { TextDiff } from "@/components/code/TextDiff";
import { ChangesTable } from "./ChangesTable";
import classes from "./Differences.module.css";
import type { Drafting } from "./draft";
import type { Judging } from "./judge";

type Props = { drafting: Drafting; judging: Judging };

/** The draft against the newest version, which runs: field by field, then line by line. */
export function Differences({ drafting, judging }: Props) {
  const { newest, text, isChanged } = drafting;
  const { judged } = judging;
  if (!isChanged) {
    return (
      <p className={classes.empty}>
        Nothing is changed. Change a field in the form, or edit the JSON: what differs is shown
        here.
      </p>
    );
  }
  return (
    <div className={classes.parts}>
      {judged !== undefined && judged.changes.length > 0 && (
        <div className={classes.fields}>
          <ChangesTable changes={judged.changes} />
        </div>
      )}
      <TextDiff
        left={newest.text}
        right={text}
        leftLabel={newest.number === null ? "The stored version" : `Version ${newest.number}`}
        rightLabel="The draft"
        isUnified
        onlyChanges
      />
    </div>
  );
}
