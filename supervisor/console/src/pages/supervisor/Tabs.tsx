import { Link } from "@tanstack/react-router";
import classes from "./Tabs.module.css";

const TABS = [
  ["overview", "Overview"],
  ["partitions", "Partitions"],
  ["timeline", "Timeline"],
  ["why", "Why"],
  ["spec", "Spec"],
  ["history", "History"],
  ["bad-records", "Bad records"],
  ["tasks", "Tasks"],
  ["events", "Events"],
] as const;

/** The views of one supervisor; each has an address of its own. */
export function Tabs({ id }: { id: string }) {
  return (
    <nav className={classes.tabs} aria-label="Views of the supervisor">
      {TABS.map(([path, label]) => (
        <Link
          key={path}
          to={`/supervisors/$id/${path}`}
          params={{ id }}
          search={{}}
          className={classes.tab}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
