import { Link } from "@tanstack/react-router";
import classes from "@/pages/supervisor/Tabs.module.css";

const TABS = [
  ["summary", "Summary"],
  ["log", "Log"],
  ["report", "Report"],
  ["payload", "Payload"],
] as const;

/** The views of one task; each has an address of its own. */
export function TaskTabs({ id }: { id: string }) {
  return (
    <nav className={classes.tabs} aria-label="Views of the task">
      {TABS.map(([path, label]) => (
        <Link key={path} to={`/tasks/$task/${path}`} params={{ task: id }} className={classes.tab}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
