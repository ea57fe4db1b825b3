import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { counted, exact, short } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { FirstSteps } from "../home/FirstSteps";
import { COLUMNS, NAME } from "./columns";
import { Filters } from "./Filters";
import { chosenOf, isInTrouble, type TableRow, useRows } from "./rows";
import type { TablesSearch } from "./search";

/** All tables: what they hold, how fresh they are, who feeds them; those in trouble first. */
export function TablesPage() {
  const search = useSearch({ from: "/shell/tables" });
  const navigate = useNavigate({ from: "/tables" });
  const list = useRows();
  const change = useCallback(
    (part: Partial<TablesSearch>, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace }),
    [navigate],
  );
  const rows = list.data ?? [];
  const chosen = useMemo(() => chosenOf(list.data ?? [], search), [list.data, search]);
  return (
    <Page
      title="Tables"
      sentence={list.data === undefined ? undefined : sentenceOf(rows)}
      actions={<ColumnMenu name={NAME} columns={COLUMNS} />}
      fills
    >
      <Filters search={search} rows={rows} onChange={change} />
      <QueryView query={list} lines={12}>
        {(every) =>
          every.length === 0 ? (
            <FirstSteps />
          ) : (
            <DataTable
              name={NAME}
              label="Tables"
              columns={COLUMNS}
              rows={chosen}
              rowId={({ name }) => name}
              total={chosen.length}
              sort={search.sort ?? ""}
              onSort={(sort) => change({ sort: sort === "" ? undefined : sort })}
              active={search.sel}
              onActive={(sel) => change({ sel }, true)}
              onOpen={({ name }) =>
                void navigate({ to: "/tables/$ds/summary", params: { ds: name } })
              }
              empty={
                <>
                  <p>{`0 of ${counted(every.length, "table")} fit the filters.`}</p>
                  <Button mt="xs" onClick={() => change({ q: undefined, only: undefined })}>
                    Clear filters
                  </Button>
                </>
              }
            />
          )
        }
      </QueryView>
    </Page>
  );
}

/** Says how many there are, what they hold together, and how many need somebody. */
export function sentenceOf(rows: readonly TableRow[]): string {
  if (rows.length === 0) {
    return "No table yet: it comes with its first supervisor.";
  }
  const sum = (of: (row: TableRow) => number | bigint) =>
    rows.reduce((total, row) => total + BigInt(of(row)), 0n);
  const trouble = rows.filter(isInTrouble).length;
  return [
    counted(rows.length, "table"),
    `${short(sum((row) => row.rows))} rows`,
    bytes(sum((row) => row.bytes)),
    `${exact(sum((row) => row.files))} files`,
    ...(trouble === 0 ? [] : [`${exact(trouble)} in trouble`]),
  ].join(" · ");
}
