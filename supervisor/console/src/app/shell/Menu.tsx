import { Link } from "@tanstack/react-router";
import { useOverview } from "@/api/overview";
import { SAFETY_MS } from "@/api/query";
import { Icon } from "@/components/Icon";
import { short } from "@/text/numbers";
import classes from "./Menu.module.css";

/** The pages; beside them what needs somebody, and how many there are. */
export function Menu() {
  const overview = useOverview(SAFETY_MS).data;
  const urgent = overview === undefined ? 0 : overview.totals.broken + overview.totals.atRisk;
  const total = overview?.supervisors?.total;
  return (
    <nav className={classes.menu} aria-label="Pages">
      <Link to="/" className={classes.item} activeOptions={{ exact: true }}>
        <Icon name="home" />
        <span>Home</span>
        {urgent > 0 && (
          <span className={classes.urgent} title="broken or at risk">
            {urgent}
          </span>
        )}
      </Link>
      <Link to="/supervisors" className={classes.item}>
        <Icon name="list" />
        <span>Supervisors</span>
        {total !== undefined && <span className={classes.count}>{short(total)}</span>}
      </Link>
      <Link to="/settings" className={`${classes.item} ${classes.last}`}>
        <Icon name="gear" />
        <span>Settings</span>
      </Link>
    </nav>
  );
}
