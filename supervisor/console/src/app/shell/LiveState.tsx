import { usePreferences } from "@/app/preferences";
import { clock } from "@/text/times";
import { useContact } from "../contact";
import classes from "./LiveState.module.css";

/** Whether what is shown is true now: live, reconnecting, or stale since a time. */
export function LiveState() {
  const contact = useContact();
  const { zone } = usePreferences();
  const words =
    contact.state === "live"
      ? "live"
      : contact.state === "reconnecting"
        ? `reconnecting ${Math.floor(contact.forMs / 1_000)} s`
        : `stale since ${clock(new Date(contact.since), zone)}`;
  return (
    <span className={classes.state} data-state={contact.state}>
      <span className={classes.dot} aria-hidden="true" />
      <span>{words}</span>
      <span className={classes.spoken} role="status">
        {contact.state === "stale" ? "The overlord does not answer. What is shown is old." : ""}
      </span>
    </span>
  );
}
