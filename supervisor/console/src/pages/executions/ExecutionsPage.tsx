import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { Readable } from "@/components/flow/Readable";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { useNow } from "@/components/Time";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { COLUMNS, NAME } from "./columns";
import classes from "./columns.module.css";
import { useExecutions } from "./data";
import { Filters } from "./Filters";
import { type ExecutionsSearch, isFiltered, NO_FILTER } from "./search";
import { sentenceOf } from "./words";

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
