import { Kbd } from "@mantine/core";
import { DialogHead } from "@/components/action/DialogHead";
import { boundKeys } from "../keys";
import classes from "./KeyList.module.css";

const ALWAYS = [
  { keys: "Ctrl K", label: "Search: supervisors, pages, settings" },
  { keys: "Esc", label: "Close what is open" },
];

/** What each key does now. */
export function KeyList() {
  return (
    <>
      <DialogHead>Keys</DialogHead>
      <dl className={classes.list}>
        {[...ALWAYS, ...boundKeys()].map(({ keys, label }) => (
          <div key={`${keys} ${label}`} className={classes.line}>
            <dt>
              {keys.split(" ").map((key) => (
                <Kbd key={key} size="xs">
                  {key}
                </Kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
