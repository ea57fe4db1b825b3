import { useTableName } from "../data";
import { CompactionPanel } from "./CompactionPanel";
import { Compactions } from "./Compactions";
import { RetentionPanel } from "./RetentionPanel";
import classes from "./Rules.module.css";

/** What happens to the table by itself: how long rows are kept, how small files are joined. */
export function Rules() {
  const name = useTableName();
  return (
    <div className={classes.rules}>
      <div className={classes.columns}>
        <RetentionPanel name={name} />
        <CompactionPanel name={name} />
      </div>
      <Compactions name={name} />
    </div>
  );
}
