import { Link } from "@tanstack/react-router";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import { ExportMark } from "../../tables/ExportMark";
import type { TableStats } from "../../tables/rows";
import classes from "./Summary.module.css";

/** How the table's exports do. */
export function ExportsPanel({ stats: { name } }: { stats: TableStats }) {
  const query = useApi(
    "/api/v1/datasources/{data_source}/exports",
    { path: { data_source: name } },
    SAFETY_MS,
  );
  return (
    <Panel
      title="Exports"
      aside={
        <Link to="/tables/$ds/exports" params={{ ds: name }}>
          all facts
        </Link>
      }
    >
      <QueryView query={query} lines={2}>
        {({ exports }) =>
          exports.length === 0 ? (
            <p className={classes.dim}>It is read by its list of files alone.</p>
          ) : (
            <ul className={classes.list}>
              {exports.map((each) => (
                <li key={each.format}>
                  <ExportMark row={each} hasFormat />
                  {each.problem !== "" && <span>{visible(each.problem)}</span>}
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Panel>
  );
}
