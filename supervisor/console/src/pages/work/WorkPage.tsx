import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { useNow } from "@/components/Time";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { COLUMNS, NAME, Note } from "./columns";
import { useWork } from "./data";
import { Persisters } from "./Persisters";
import { KINDS, STATES, type WorkSearch } from "./search";
import { inOrder, sentenceOf, shown, type Work } from "./work";

const KIND_WORDS = {
  operation: "Changes",
  backfill: "Backfills",
  compaction: "Compactions",
  export: "Exports",
};
const STATE_WORDS = { running: "Running", trouble: "In trouble", ended: "Ended" };
const MINUTE_MS = 60_000;

/** Changes, backfills, compactions and exports that run, or have ended in the last 24 h. */
export function WorkPage() {
  const search = useSearch({ from: "/shell/work" });
  const navigate = useNavigate({ from: "/work" });
  const query = useWork();
  const minute = Math.floor(useNow() / MINUTE_MS);
  const all = useMemo(
    () => inOrder(shown(query.data ?? [], {}, minute * MINUTE_MS)),
    [query.data, minute],
  );
  const change = useCallback(
    (part: Partial<WorkSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <Page
      title="Work"
      sentence={query.data && sentenceOf(all)}
      actions={<ColumnMenu name={NAME} columns={COLUMNS} />}
      fills
    >
      <Persisters />
      <search className={filters.filters}>
        {KINDS.map((kind) => (
          <Chip
            key={kind}
            isOn={search.kind?.includes(kind) ?? false}
            onClick={() => change({ kind: toggled(search.kind, kind) })}
          >
            {KIND_WORDS[kind]}
            {query.data !== undefined && (
              <span className={filters.number}>
                {` ${all.filter((each) => each.kind === kind).length}`}
              </span>
            )}
          </Chip>
        ))}
        {STATES.map((state) => (
          <Chip
            key={state}
            isOn={search.state?.includes(state) ?? false}
            onClick={() => change({ state: toggled(search.state, state) })}
          >
            {STATE_WORDS[state]}
          </Chip>
        ))}
      </search>
      <QueryView query={query} lines={14}>
        {() => (
          <List
            rows={shown(all, search, minute * MINUTE_MS)}
            isFiltered={all.length > 0}
            sel={search.sel}
            onActive={(sel) => change({ sel })}
          />
        )}
      </QueryView>
    </Page>
  );
}

type Props = {
  rows: readonly Work[];
  isFiltered: boolean;
  sel: string | undefined;
  onActive: (id: string) => void;
};

function List({ rows, isFiltered, sel, onActive }: Props) {
  return (
    <DataTable
      name={NAME}
      label="Work"
      columns={COLUMNS}
      rows={rows}
      rowId={({ key }) => key}
      total={rows.length}
      below={(work) =>
        work.note === "" && work.progressWords === "" ? null : <Note work={work} />
      }
      active={sel}
      onActive={onActive}
      empty={
        isFiltered
          ? "Nothing fits the filters."
          : "Nothing was asked for in 24 h: no change of a supervisor, no backfill, no compaction, no export."
      }
    />
  );
}

function toggled<T>(chosen: readonly T[] | undefined, one: T): T[] | undefined {
  const next = chosen?.includes(one)
    ? chosen.filter((each) => each !== one)
    : [...(chosen ?? []), one];
  return next.length === 0 ? undefined : next;
}
