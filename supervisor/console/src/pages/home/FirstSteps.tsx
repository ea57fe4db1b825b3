import { Command } from "@/components/Command";
import { Panel } from "@/components/Panel";
import classes from "./FirstSteps.module.css";

/** The ways to a first supervisor, where there is none. */
export function FirstSteps() {
  return (
    <Panel title="No supervisor yet: three ways to begin">
      <ul className={classes.ways}>
        <li>
          <strong>From a topic</strong>
          <p>Look at its records, and have a spec written that fits them.</p>
          <Command text="tidegate supervisor init --kafka HOST:9092 --topic TOPIC" />
        </li>
        <li>
          <strong>From a Druid spec</strong>
          <p>Check it, then store it as it is.</p>
          <Command text="tidegate supervisor apply -f spec.json" />
        </li>
        <li>
          <strong>From a demonstration</strong>
          <p>A broker, a worker and a sample stream on this machine.</p>
          <Command text="scripts/demo" />
        </li>
      </ul>
    </Panel>
  );
}
