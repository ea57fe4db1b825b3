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

/** Tabs that have something to show of a supervisor that is terminated. */
export const KEPT: ReadonlySet<string> = new Set([
  "overview",
  "timeline",
  "history",
  "bad-records",
  "tasks",
  "events",
]);

type Props = { id: string; isEnded: boolean };

/** The views of one supervisor; each has an address of its own. */
export function Tabs({ id, isEnded }: Props) {
  return (
    <nav className={classes.tabs} aria-label="Views of the supervisor">
      {TABS.filter(([path]) => !isEnded || KEPT.has(path)).map(([path, label]) => (
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
