import { Command } from "@/components/Command";
import { quoted } from "@/text/shell";
import classes from "./BadRecords.module.css";

/** How to send the records again: to a topic of their own, that a corrected spec then reads. */
export function Replay({ id, reason }: { id: string; reason: string | undefined }) {
  const which = reason === undefined ? "" : ` --reason ${quoted(reason)}`;
  return (
    <p className={classes.replay}>
      <span>
        To load them after all, send them to a topic of their own; a supervisor with a corrected
        spec, another id and the same table reads it:
      </span>
      <Command
        text={`tidegate quarantine replay ${quoted(id)} --topic ${quoted(`${id}-again`)}${which}`}
      />
    </p>
  );
}
