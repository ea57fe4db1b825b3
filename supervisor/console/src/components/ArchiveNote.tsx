import classes from "./ArchiveNote.module.css";
import { Prose } from "./Prose";

type Props = {
  /** What the list is of, such as "changes". */
  what: string;
  /** Why the archive has no answer now; null: it has one, or is not needed. */
  missing: string | null | undefined;
};

/** Says that a list ends before the archive, which cannot be read now. */
export function ArchiveNote({ what, missing }: Props) {
  return typeof missing !== "string" ? null : (
    <p className={classes.note} role="status">
      <Prose>{`Older ${what} are not in this list: ${missing}`}</Prose>
    </p>
  );
}
