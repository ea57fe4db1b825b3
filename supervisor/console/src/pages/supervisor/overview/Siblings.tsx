import { Link } from "@tanstack/react-router";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Foreign } from "@/components/Foreign";
import { StateMark } from "@/components/Mark";
import { Panel } from "@/components/Panel";
import { SupervisorLink } from "@/components/SupervisorLink";
import classes from "./Siblings.module.css";

const SHOWN = 12;

/** The other supervisors of the same table; nothing where there is none. */
export function Siblings({ id, table }: { id: string; table: string }) {
  // A star in a table's name would be a pattern; it finds this table among others.
  const query = { dataSource: table, limit: SHOWN + 1, sort: "id" as const };
  const { data } = useApi("/api/v1/supervisors", { query }, SAFETY_MS);
  const rows = (data?.supervisors ?? [])
    .filter((row) => row.id !== id && row.dataSource === table)
    .slice(0, SHOWN);
  if (data === undefined || rows.length === 0) {
    return null;
  }
  return (
    <Panel
      title={`Other supervisors of the table`}
      aside={
        <Link to="/supervisors" search={{ table }}>
          all of <Foreign>{table}</Foreign>
        </Link>
      }
    >
      <ul className={classes.list}>
        {rows.map((row) => (
          <li key={row.id}>
            <SupervisorLink id={row.id} />
            <StateMark state={row.state} detailed={row.detailedState} healthy={row.healthy} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
