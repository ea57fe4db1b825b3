import { Link } from "@tanstack/react-router";
import classes from "./Tabs.module.css";

const TABS = [
  ["summary", "Summary"],
  ["coverage", "Coverage"],
  ["time", "Time"],
  ["files", "Files"],
  ["exports", "Exports"],
  ["rules", "Rules"],
  ["code", "Code"],
] as const;

/** The views of one table; each has an address of its own. */
export function Tabs({ name }: { name: string }) {
  return (
    <nav className={classes.tabs} aria-label="Views of the table">
      {TABS.map(([path, label]) => (
        <Link
          key={path}
          to={`/tables/$ds/${path}`}
          params={{ ds: name }}
          search={{}}
          className={classes.tab}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
