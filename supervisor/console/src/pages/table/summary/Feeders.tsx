import { Link } from "@tanstack/react-router";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Count } from "@/components/Count";
import { StateMark } from "@/components/Mark";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Age, Due } from "@/components/Time";
import { rowsTableOf } from "./names";
import classes from "./Summary.module.css";

const SHOWN = 20;
const NO_LOOK = "No pass of this leader has looked at it yet.";

/** The supervisors that feed the table: state, lag, when they publish. */
export function Feeders({ name }: { name: string }) {
  const table = rowsTableOf(name);
  // A star in a table's name would be a pattern; it finds this table among others.
  const query = useApi(
    "/api/v1/supervisors",
    { query: { dataSource: table, limit: 200 } },
    POLL_MS,
  );
  return (
    <Panel
      title="Fed by"
      aside={
        <Link to="/supervisors" search={{ table }}>
          in the list of supervisors
        </Link>
      }
    >
      <QueryView query={query} lines={2}>
        {({ supervisors }) => {
          const rows = supervisors.filter(({ dataSource }) => dataSource === table);
          return rows.length === 0 ? (
            <p className={classes.dim}>No supervisor feeds it: nothing new is published into it.</p>
          ) : (
            <div className={classes.place}>
              <table className={classes.table}>
                <thead>
                  <tr>
                    <th scope="col">Supervisor</th>
                    <th scope="col">State</th>
                    <th scope="col" className={classes.number}>
                      Unread
                    </th>
                    <th scope="col">Published</th>
                    <th scope="col">Publishes next</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.slice(0, SHOWN).map((row) => (
                    <tr key={row.id}>
                      <td>
                        <SupervisorLink id={row.id} />
                      </td>
                      <td>
                        <StateMark
                          state={row.state}
                          detailed={row.detailedState}
                          healthy={row.healthy}
                        />
                      </td>
                      <td className={classes.number}>
                        <Count value={row.lagRecords} unknown={NO_LOOK} />
                      </td>
                      <td>
                        <Age at={row.lastPublishedAt} unknown="Nothing is published yet." />
                      </td>
                      <td>
                        <Due at={row.nextPublishDue} unknown="No range of it reads now." />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {rows.length > SHOWN && <p>{`and ${rows.length - SHOWN} more`}</p>}
            </div>
          );
        }}
      </QueryView>
    </Panel>
  );
}
