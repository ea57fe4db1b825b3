import type { AttentionItem } from "@/api/overview";
import { Remedies } from "@/components/remedy/Remedies";
import { visible } from "@/text/visible";
import classes from "./workers.module.css";

/** The line below a worker that is not heard: what that means, and what may help. */
export function Trouble({ item }: { item: AttentionItem }) {
  return (
    <div className={classes.trouble}>
      <span className={classes.why} title={visible(item.text)}>
        {visible(item.text)}
      </span>
      <Remedies remedies={item.remedies} table={null} supervisor={null} />
    </div>
  );
}
