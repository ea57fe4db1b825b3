import { Command } from "@/components/Command";
import { Panel } from "@/components/Panel";
import classes from "./workers.module.css";

/** What to do where there is no worker. */
export function NoWorker() {
  return (
    <Panel title="No worker is connected">
      <div className={classes.ways}>
        <p>Nothing is read or published before one is. Start one, beside the warehouse:</p>
        <Command text="tidegate worker" />
        <p>
          If it does not come up, have its Java, its jars, its folders and its way to this overlord
          looked at:
        </p>
        <Command text="tidegate doctor" />
      </div>
    </Panel>
  );
}
