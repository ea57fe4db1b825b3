import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Readable } from "@/components/flow/Readable";
import { Icon } from "@/components/Icon";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { useNow } from "@/components/Time";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { COLUMNS, NAME } from "./columns";
import classes from "./columns.module.css";
import { useExecutions } from "./data";
import {
  type ExecutionsSearch,
  isFiltered,
  NO_FILTER,
  STATES,
  WINDOWS,
  type Window,
} from "./search";
import { sentenceOf, toggled } from "./words";

const WINDOW_WORDS: Record<Window, string> = { "1h": "Last hour", "24h": "24 h", "7d": "7 days" };

/** Flows at work, and those that ended; newest first. */
export function ExecutionsPage() {
  return (
    <Readable title="Executions">
      <Listing />
    </Readable>
  );
}

function Listing() {
  const search = useSearch({ from: "/shell/executions" });
  const navigate = useNavigate({ from: "/executions" });
  const list = useExecutions(search, useNow());
  const change = useCallback(
    (part: Partial<ExecutionsSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <Page
      title="Executions"
      sentence={list.data && sentenceOf(list.data, isFiltered(search))}
      actions={
        <>
          <Link to="/executors" className={classes.other}>
            Executors
          </Link>
          <ColumnMenu name={NAME} columns={COLUMNS} />
        </>
      }
      fills
    >
      <Filters search={search} onChange={change} />
      <QueryView query={list} lines={14}>
        {({ executions, hasMore }) => (
          <DataTable
            name={NAME}
            label="Executions"
            columns={COLUMNS}
            rows={executions}
            rowId={({ id }) => id}
            total={executions.length + (hasMore ? 1 : 0)}
            below={({ error }) =>
              error === "" ? null : <span className={classes.error}>{visible(error)}</span>
            }
            active={search.sel}
            onActive={(sel) => change({ sel })}
            onOpen={({ id }) =>
              void navigate({ to: "/executions/$execution", params: { execution: id } })
            }
            onEnd={list.more}
            empty={<Empty isCut={isFiltered(search)} onClear={() => change(NO_FILTER)} />}
          />
        )}
      </QueryView>
    </Page>
  );
}

type FiltersProps = {
  search: ExecutionsSearch;
  onChange: (part: Partial<ExecutionsSearch>) => void;
};

function Filters({ search, onChange }: FiltersProps) {
  return (
    <search className={filters.filters}>
      <TextFilter
        label="Flow, its whole name"
        width={200}
        value={search.flow}
        onChange={(flow) => onChange({ flow })}
      />
      {STATES.map((state) => (
        <Chip
          key={state}
          isOn={search.state?.includes(state) ?? false}
          onClick={() => onChange({ state: toggled(search.state, state) })}
        >
          {state.charAt(0) + state.slice(1).toLowerCase()}
        </Chip>
      ))}
      {(Object.keys(WINDOWS) as Window[]).map((since) => (
        <Chip
          key={since}
          isOn={search.since === since}
          onClick={() => onChange({ since: search.since === since ? undefined : since })}
        >
          {WINDOW_WORDS[since]}
        </Chip>
      ))}
      {search.parent !== undefined && (
        <Chip isOn onClick={() => onChange({ parent: undefined })}>
          {`Started by ${visible(search.parent)}`}
        </Chip>
      )}
      {isFiltered(search) && (
        <Button
          variant="subtle"
          leftSection={<Icon name="close" size={11} />}
          onClick={() => onChange(NO_FILTER)}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

/** Says why the list is empty, and what is the next step. */
function Empty({ isCut, onClear }: { isCut: boolean; onClear: () => void }) {
  return isCut ? (
    <>
      <p>No execution fits the filters.</p>
      <Button mt="xs" onClick={onClear}>
        Clear filters
      </Button>
    </>
  ) : (
    <>
      <p>No flow has run yet. Start one from its page.</p>
      <p>
        <Link to="/flows">All flows</Link>
      </p>
    </>
  );
}
