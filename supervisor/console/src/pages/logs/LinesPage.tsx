import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { Chip } from "@/components/filters/Chip";
import { TextFilter } from "@/components/filters/TextFilter";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { counted } from "@/text/numbers";
import { LINE_COLUMNS, LINES_NAME } from "./columns";
import { LogFilters } from "./LogFilters";
import { LogsFrame } from "./LogsFrame";
import { useLines } from "./rows";
import { isFiltered, LEVELS, type LinesSearch, NO_LINE_FILTER } from "./search";

/** Warnings and errors of the stored logs of all tasks, newest first. */
export function LinesPage() {
  const search = useSearch({ from: "/shell/logs" });
  const navigate = useNavigate({ from: "/logs" });
  const list = useLines(search);
  const change = useCallback(
    (part: LinesSearch) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <LogsFrame
      title="Logs"
      sentence={list.data && `${numberOf(list.data, "line")}, newest first`}
      actions={<ColumnMenu name={LINES_NAME} columns={LINE_COLUMNS} />}
      error={list.error}
    >
      <LogFilters
        search={search}
        isFiltered={isFiltered(search)}
        onChange={change}
        onClear={() => change(NO_LINE_FILTER)}
      >
        {LEVELS.map((level) => (
          <Chip
            key={level}
            isOn={search.level === level}
            onClick={() => change({ level: search.level === level ? undefined : level })}
          >
            {level}
          </Chip>
        ))}
        <TextFilter
          label="Text in the line"
          width={170}
          value={search.text}
          onChange={(text) => change({ text })}
        />
      </LogFilters>
      <QueryView query={list} lines={14}>
        {({ rows, hasMore }) => (
          <DataTable
            name={LINES_NAME}
            label="Lines"
            columns={LINE_COLUMNS}
            rows={rows}
            rowId={({ task, attempt, offset }) => `${task} ${attempt} ${offset}`}
            total={rows.length + (hasMore ? 1 : 0)}
            active={search.sel}
            onActive={(sel) => change({ sel })}
            onEnd={list.more}
            empty={
              isFiltered(search)
                ? "No stored line fits the filters: names are whole names."
                : "No stored log has a warning or an error."
            }
          />
        )}
      </QueryView>
    </LogsFrame>
  );
}

export function numberOf(
  { rows, hasMore }: { rows: readonly unknown[]; hasMore: boolean },
  what: string,
): string {
  return `${hasMore ? "The newest " : ""}${counted(rows.length, what)}`;
}
