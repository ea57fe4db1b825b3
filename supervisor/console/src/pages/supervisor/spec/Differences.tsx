import { TextDiff } from "@/components/code/TextDiff";
import { Mark } from "@/components/Mark";
import { visible } from "@/text/visible";
import { ChangesTable } from "./ChangesTable";
import classes from "./Differences.module.css";
import type { Drafting } from "./draft";
import type { Judging } from "./judge";

type Props = { drafting: Drafting; judging: Judging };

/** The draft against the version that it began from: field by field, then line by line. */
export function Differences({ drafting, judging }: Props) {
  const { base, text, isChanged } = drafting;
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
          <p>
            <Mark tone={judged.restarts === "none" ? "good" : "risk"} icon="steady">
              {visible(judged.restartsWhat)}
            </Mark>
          </p>
        </div>
      )}
      <TextDiff
        left={base.text}
        right={text}
        leftLabel={base.number === null ? "The stored version" : `Version ${base.number}`}
        rightLabel="The draft"
        isUnified
        onlyChanges
      />
    </div>
  );
}
