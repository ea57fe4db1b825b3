import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Overview, useOverview } from "@/api/overview";
import { SAFETY_MS } from "@/api/query";
import { Icon } from "@/components/Icon";
import { short } from "@/text/numbers";
import classes from "./Menu.module.css";
import { PLACES } from "./places";

/** The pages; beside them what needs somebody, and how many there are. */
export function Menu() {
  const overview = useOverview(SAFETY_MS).data;
  return (
    <nav className={classes.menu} aria-label="Pages">
      {PLACES.map(({ to, label, icon }, n) => (
        <Link
          key={to}
          to={to}
          className={`${classes.item} ${n === PLACES.length - 1 ? classes.last : ""}`}
          activeOptions={{ exact: to === "/" }}
        >
          <Icon name={icon} />
          <span>{label}</span>
          {overview !== undefined && beside(to, overview)}
        </Link>
      ))}
    </nav>
  );
}

/** What a glance at the menu shall tell; null: nothing. */
function beside(to: string, { totals, supervisors }: Overview): ReactNode {
  const urgent = totals.broken + totals.atRisk;
  if (to === "/" && urgent > 0) {
    return (
      <span className={classes.urgent} title="broken or at risk">
        {urgent}
      </span>
    );
  }
  if (to === "/supervisors" && supervisors) {
    return <span className={classes.count}>{short(supervisors.total)}</span>;
  }
  return null;
}
