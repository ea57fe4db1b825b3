import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { Chip } from "@/components/filters/Chip";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { REPORT_COLUMNS, REPORTS_NAME } from "./columns";
import { numberOf } from "./LinesPage";
import { LogFilters } from "./LogFilters";
import { LogsFrame } from "./LogsFrame";
import { useReports } from "./rows";
import {
  isFiltered,
  NO_REPORT_FILTER,
  ORIGINS,
  OUTCOMES,
  type ReportsSearch,
  TYPES,
} from "./search";

/** What workers and the leader have reported, newest first. */
export function ReportsPage() {
  const search = useSearch({ from: "/shell/logs/reports" });
  const navigate = useNavigate({ from: "/logs/reports" });
  const list = useReports(search);
  const change = useCallback(
    (part: ReportsSearch) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <LogsFrame
      title="Reports"
      sentence={list.data && `${numberOf(list.data, "report")}, newest first`}
      actions={<ColumnMenu name={REPORTS_NAME} columns={REPORT_COLUMNS} />}
      error={list.error}
    >
      <LogFilters
        search={search}
        isFiltered={isFiltered(search)}
        onChange={change}
        onClear={() => change(NO_REPORT_FILTER)}
      >
        {OUTCOMES.map((status) => (
          <Chip
            key={status}
            isOn={search.status === status}
            onClick={() => change({ status: search.status === status ? undefined : status })}
          >
            {status}
          </Chip>
        ))}
        {TYPES.map((type) => (
          <Chip
            key={type}
            isOn={search.type === type}
            onClick={() => change({ type: search.type === type ? undefined : type })}
          >
            {type}
          </Chip>
        ))}
        {ORIGINS.map((origin) => (
          <Chip
            key={origin}
            isOn={search.origin === origin}
            onClick={() => change({ origin: search.origin === origin ? undefined : origin })}
          >
            {origin}
          </Chip>
        ))}
      </LogFilters>
      <QueryView query={list} lines={14}>
        {({ rows, hasMore }) => (
          <DataTable
            name={REPORTS_NAME}
            label="Reports"
            columns={REPORT_COLUMNS}
            rows={rows}
            rowId={({ id }) => id}
            total={rows.length + (hasMore ? 1 : 0)}
            active={search.sel}
            onActive={(sel) => change({ sel })}
            onEnd={list.more}
            empty={
              isFiltered(search)
                ? "No stored report fits the filters: names are whole names."
                : "No report is stored yet."
            }
          />
        )}
      </QueryView>
    </LogsFrame>
  );
}
