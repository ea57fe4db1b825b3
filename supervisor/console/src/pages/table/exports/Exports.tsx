import { Link } from "@tanstack/react-router";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Command } from "@/components/Command";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Age, Clock } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { known } from "@/text/known";
import { exact } from "@/text/numbers";
import { span } from "@/text/times";
import { visible } from "@/text/visible";
import { ExportMark } from "../../tables/ExportMark";
import type { ExportRow } from "../../tables/rows";
import { useTableName } from "../data";
import classes from "./Exports.module.css";

const NAMES: Record<string, string> = { delta: "Delta Lake", iceberg: "Apache Iceberg" };

/** The same files as tables of other formats: whether they follow, and where they are. */
export function Exports() {
  const name = useTableName();
  const query = useApi(
    "/api/v1/datasources/{data_source}/exports",
    { path: { data_source: name } },
    SAFETY_MS,
  );
  return (
    <QueryView query={query} lines={5}>
      {({ exports }) =>
        exports.length === 0 ? (
          <Panel title="Not exported">
            <p>
              The table is read by its list of files. For readers of Delta or Iceberg, name the
              formats in the spec of one of its supervisors:
            </p>
            <Command text={'"exports": ["delta", "iceberg"]'} what="the member of the spec" />
            <p className={classes.dim}>No task is disturbed by it, and no file is copied.</p>
          </Panel>
        ) : (
          <div className={classes.columns}>
            {exports.map((each) => (
              <ExportPanel key={each.format} name={name} row={each} />
            ))}
          </div>
        )
      }
    </QueryView>
  );
}

const READERS: Record<string, string> = { delta: "deltalake", iceberg: "pyiceberg" };

function ExportPanel({ name, row }: { name: string; row: ExportRow }) {
  const { format, state, lagSeconds, problem, location, version, sequence, exportedAt } = row;
  return (
    <Panel
      title={known(NAMES, format) ?? visible(format)}
      aside={
        location !== null && (
          <Link
            to="/tables/$ds/code"
            params={{ ds: name }}
            search={{ reader: known(READERS, format) ?? undefined }}
          >
            code that reads it
          </Link>
        )
      }
    >
      <dl className={classes.facts}>
        <dt>State</dt>
        <dd>
          <ExportMark row={row} />
          <span className={classes.dim}>{wordsOf(state)}</span>
        </dd>
        <dt>Behind for</dt>
        <dd>{lagSeconds > 0 ? span(lagSeconds * 1_000) : "nothing waits"}</dd>
        <dt>Problem</dt>
        <dd>{problem === "" ? <span className={classes.dim}>none</span> : visible(problem)}</dd>
        <dt>Equal to the table</dt>
        <dd>
          <Age at={exportedAt} unknown="It never was." />{" "}
          <span className={classes.dim}>
            <Clock at={exportedAt} unknown="" />
          </span>
        </dd>
        <dt>Version</dt>
        <dd>
          {version === null ? (
            <Unknown why="Nothing was published in this format." />
          ) : (
            `${exact(version)}, of change ${exact(sequence)} of the table`
          )}
        </dd>
        <dt>Address</dt>
        <dd>
          {location === null ? (
            <Unknown why="It has none before its first publication." />
          ) : (
            <Command text={location} what="the address" />
          )}
        </dd>
      </dl>
    </Panel>
  );
}

function wordsOf(state: string): string {
  switch (state) {
    case "equal":
      return "each change of the table is in it";
    case "behind":
      return "changes of the table wait for it";
    case "failing":
      return "the last try failed; it is tried again";
    case "stuck":
      return "it waits until somebody mends it";
    case "off":
      return "the spec names it no more; its files stay";
    default:
      return "";
  }
}
