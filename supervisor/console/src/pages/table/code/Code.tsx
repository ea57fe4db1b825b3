import { useNavigate, useSearch } from "@tanstack/react-router";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Copy } from "@/components/Copy";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { known } from "@/text/known";
import { visible } from "@/text/visible";
import { useTableName } from "../data";
import classes from "./Code.module.css";

const NAMES: Record<string, string> = {
  duckdb: "DuckDB",
  polars: "Polars",
  spark: "PySpark",
  pandas: "pandas",
  deltalake: "deltalake",
  pyiceberg: "PyIceberg",
};
/** Readers of a table format, which is not there for every table. */
const FORMATS: Record<string, string> = { deltalake: "Delta", pyiceberg: "Iceberg" };

/** Python that reads exactly the published rows, for each library. */
export function Code() {
  const name = useTableName();
  const { reader } = useSearch({ from: "/shell/tables/$ds/code" });
  const navigate = useNavigate({ from: "/tables/$ds/code" });
  const query = useApi(
    "/api/v1/datasources/{data_source}/snippets",
    { path: { data_source: name } },
    SAFETY_MS,
  );
  return (
    <QueryView query={query} lines={10}>
      {({ snippets }) => {
        const shown = snippets.find((each) => each.reader === reader) ?? snippets[0];
        const lacks = Object.keys(NAMES).filter(
          (each) => !snippets.some((snippet) => snippet.reader === each),
        );
        return (
          <div className={classes.columns}>
            <nav className={classes.readers} aria-label="Readers">
              {snippets.map((each) => (
                <button
                  key={each.reader}
                  type="button"
                  className={classes.reader}
                  aria-pressed={each === shown}
                  onClick={() => void navigate({ search: { reader: each.reader }, replace: true })}
                >
                  {known(NAMES, each.reader) ?? visible(each.reader)}
                </button>
              ))}
              {lacks.map((each) => (
                <p key={each} className={classes.lack}>
                  {`${NAMES[each]}: needs the table as ${FORMATS[each] ?? "another format"}, see Exports.`}
                </p>
              ))}
            </nav>
            {shown !== undefined && (
              <Panel
                title={known(NAMES, shown.reader) ?? visible(shown.reader)}
                aside={<Copy text={shown.code} what="the code" />}
              >
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
                <section className={classes.place} tabIndex={0} aria-label="Code">
                  <pre className={classes.code}>{visible(shown.code)}</pre>
                </section>
              </Panel>
            )}
          </div>
        );
      }}
    </QueryView>
  );
}
