import { visible } from "@/text/visible";
import classes from "./Command.module.css";
import { Copy } from "./Copy";

/** A command of the shell, to be copied. */
export function Command({ text, what = "the command" }: { text: string; what?: string }) {
  return (
    <span className={classes.command}>
      <code>{visible(text)}</code>
      <Copy text={text} what={what} />
    </span>
  );
}
