import { prettyJson } from "@/api/json";
import { visible } from "@/text/visible";
import { Copy } from "./Copy";
import classes from "./JsonText.module.css";

/** A value as JSON, with each digit of its numbers. */
export function JsonText({ value, label }: { value: unknown; label: string }) {
  const text = prettyJson(value);
  return (
    <div className={classes.json}>
      <span className={classes.copy}>
        <Copy text={text} what="the JSON" />
      </span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it by keys */}
      <section className={classes.text} tabIndex={0} aria-label={label}>
        <pre>{visible(text)}</pre>
      </section>
    </div>
  );
}
