import { Button } from "@mantine/core";
import { Barred } from "@/components/Barred";
import { visible } from "@/text/visible";
import { fieldName } from "./facts";
import { proposed } from "./led";
import classes from "./Toolbar.module.css";

type Props = {
  text: string;
  /** The field that a step led to, as a JSON pointer, and the value that it proposes, as JSON. */
  field: string;
  value: string | undefined;
  /** What the caller lacks for a change. */
  lack: string | null;
  onTake: (text: string) => void;
  onClose: () => void;
};

/** What a step proposes for a field; it comes into the draft by a click, and nothing is stored. */
export function Proposal({ text, field, value, lack, onTake, onClose }: Props) {
  const next = value === undefined ? null : proposed(text, field, value);
  return (
    <section className={classes.proposal} aria-label="The step that led here">
      <span>
        The field to change is <code>{visible(fieldName(field))}</code>
        {value !== undefined && (
          <>
            {next === null ? ", which the draft has as " : ", and the proposed value is "}
            <code>{visible(value)}</code>
            {next === null && " already"}
          </>
        )}
        . Nothing is stored before you save it.
      </span>
      <span className={classes.choices}>
        {next !== null && (
          <Barred why={lack} onClick={() => onTake(next)}>
            Put it into the draft
          </Barred>
        )}
        <Button variant="subtle" onClick={onClose}>
          Close
        </Button>
      </span>
    </section>
  );
}
