import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { useOverview } from "@/api/overview";
import { SAFETY_MS } from "@/api/query";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable, type Selection } from "@/components/table/DataTable";
import { counted, exact } from "@/text/numbers";
import { FirstSteps } from "../home/FirstSteps";
import type { Outcome } from "./bulk";
import type { BulkVerb } from "./bulkVerbs";
import { COLUMNS, NAME } from "./columns";
import { Empty } from "./Empty";
import { Filters } from "./Filters";
import { useScrolling } from "./lags";
import { type Listed, useSupervisors } from "./rows";
import { SelectionBar } from "./SelectionBar";
import type { SupervisorsSearch } from "./search";
import { stillThere, withoutEnded } from "./selection";
import { Trouble } from "./Trouble";
import { TerminatedList } from "./terminated/TerminatedList";

type Changing = {
  search: SupervisorsSearch;
  onChange: (part: Partial<SupervisorsSearch>, replace?: boolean) => void;
};

/** All supervisors, or those that are terminated; the URL says which. */
export function SupervisorsPage() {
  const search = useSearch({ from: "/shell/supervisors" });
  const navigate = useNavigate({ from: "/supervisors" });
  const change = useCallback(
    (part: Partial<SupervisorsSearch>, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace }),
    [navigate],
  );
  return search.ended === "yes" ? (
    <TerminatedList search={search} onChange={change} />
  ) : (
    <Present search={search} onChange={change} />
  );
}

/** Those that are there: unhealthy ones first, with the reason and the first step below. */
function Present({ search, onChange: change }: Changing) {
  const navigate = useNavigate({ from: "/supervisors" });
  const list = useSupervisors(search);
  const [selected, setIds] = useState<ReadonlySet<string>>(new Set());
  const ids = useMemo(() => stillThere(selected, list.data, search), [selected, list.data, search]);
  const onOutcome = useCallback(
    (verb: BulkVerb, outcome: Outcome) => setIds((before) => withoutEnded(before, verb, [outcome])),
    [],
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
        <SelectionBar
          ids={ids}
          rows={list.data?.rows ?? []}
          search={search}
          onChange={setIds}
          onOutcome={onOutcome}
        />
      )}
      <QueryView query={list} lines={14}>
        {(listed) =>
          totalOf(listed.totals) === 0 ? (
            <FirstSteps />
          ) : (
            <List
              listed={listed}
              search={search}
              onChange={change}
              selection={{ ids, onChange: setIds }}
              onEnd={list.more}
              onClear={() => void navigate({ search: {} })}
            />
          )
        }
      </QueryView>
    </Page>
  );
}

type Props = Changing & {
  listed: Listed;
  selection: Selection;
  onEnd: () => void;
  onClear: () => void;
};

function List({ listed, search, onChange, selection, onEnd, onClear }: Props) {
  const navigate = useNavigate();
  const attention = useOverview(SAFETY_MS).data?.attention ?? [];
  useScrolling();
  return (
    <DataTable
      name={NAME}
      label="Supervisors"
      columns={COLUMNS}
      rows={listed.rows}
      rowId={({ id }) => id}
      total={listed.matching}
      sort={search.sort ?? ""}
      onSort={(sort) => onChange({ sort: sort === "" ? undefined : sort })}
      below={(row) => (row.healthy ? null : <Trouble row={row} attention={attention} />)}
      selection={selection}
      active={search.sel}
      onActive={(sel) => onChange({ sel }, true)}
      onOpen={({ id }) => void navigate({ to: "/supervisors/$id/overview", params: { id } })}
      onEnd={onEnd}
      empty={<Empty total={totalOf(listed.totals)} onClear={onClear} />}
    />
  );
}

/** Says how many there are, in which states, and how many of them fit the filters. */
function sentenceOf({ matching, totals }: Listed): string {
  const total = totalOf(totals);
  if (matching !== total) {
    return `${exact(matching)} of ${exact(total)} fit the filters`;
  }
  const states = Object.entries(totals).map(([state, number]) => `${exact(number)} ${state}`);
  return [counted(total, "supervisor"), ...states].join(" · ");
}

function totalOf(totals: Readonly<Record<string, number>>): number {
  return Object.values(totals).reduce((sum, each) => sum + each, 0);
}
