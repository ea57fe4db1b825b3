import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { useOverview } from "@/api/overview";
import { SAFETY_MS } from "@/api/query";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { exact } from "@/text/numbers";
import { COLUMNS, NAME } from "./columns";
import { Empty } from "./Empty";
import { Filters } from "./Filters";
import { useSupervisors } from "./rows";
import { SelectionBar } from "./SelectionBar";
import type { SupervisorsSearch } from "./search";
import { Trouble } from "./Trouble";

/** All supervisors: unhealthy ones first, with the reason and the first step below. */
export function SupervisorsPage() {
  const search = useSearch({ from: "/shell/supervisors" });
  const navigate = useNavigate({ from: "/supervisors" });
  const list = useSupervisors(search);
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const attention = useOverview(SAFETY_MS).data?.attention;
  const change = useCallback(
    (part: Partial<SupervisorsSearch>, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace }),
    [navigate],
  );
  return (
    <Page
      title="Supervisors"
      sentence={list.data === undefined ? undefined : sentenceOf(list.data)}
      actions={<ColumnMenu name={NAME} columns={COLUMNS} />}
      fills
    >
      <Filters search={search} totals={list.data?.totals ?? {}} onChange={change} />
      {ids.size > 0 && (
        <SelectionBar ids={ids} rows={list.data?.rows ?? []} search={search} onChange={setIds} />
      )}
      <QueryView query={list} lines={14}>
        {({ rows, matching, totals }) => (
          <DataTable
            name={NAME}
            label="Supervisors"
            columns={COLUMNS}
            rows={rows}
            rowId={({ id }) => id}
            total={matching}
            sort={search.sort ?? ""}
            onSort={(sort) => change({ sort: sort === "" ? undefined : sort })}
            below={(row) =>
              row.healthy ? null : <Trouble row={row} attention={attention ?? []} />
            }
            selection={{ ids, onChange: setIds }}
            active={search.sel}
            onActive={(sel) => change({ sel }, true)}
            onEnd={list.more}
            empty={
              <Empty
                search={search}
                totals={totals}
                onClear={() => void navigate({ search: {} })}
              />
            }
          />
        )}
      </QueryView>
    </Page>
  );
}

type Counted = { matching: number; totals: Readonly<Record<string, number>> };

/** Says how many are shown, and of how many. */
function sentenceOf({ matching, totals }: Counted): string {
  const total = totalOf(totals);
  return matching === total ? exact(total) : `${exact(matching)} of ${exact(total)}`;
}

export function totalOf(totals: Readonly<Record<string, number>>): number {
  return Object.values(totals).reduce((sum, each) => sum + each, 0);
}
