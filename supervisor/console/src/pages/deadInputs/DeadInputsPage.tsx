import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { missing, type Permission, useMe } from "@/api/me";
import { type DeadInput, nameOf } from "@/changes/deadInputs";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { Readable } from "@/components/flow/Readable";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { counted } from "@/text/numbers";
import { useExecutors } from "../executors/data";
import { NoExecutors } from "../executors/NoExecutors";
import { columnsOf, NAME } from "./columns";
import classes from "./deadInputs.module.css";
import { InputDialog } from "./InputDialog";
import { type Listed, useDeadInputs } from "./rows";
import type { DeadInputsSearch } from "./search";

/** Inputs of executions on Kafka that could not be worked in. */
export function DeadInputsPage() {
  return (
    <Readable title="Dead inputs">
      <Listing />
    </Readable>
  );
}

function Listing() {
  const search = useSearch({ from: "/shell/executors/dead-inputs" });
  const navigate = useNavigate({ from: "/executors/dead-inputs" });
  const executors = useExecutors();
  const isOnKafka = executors.data?.engine === "kafka";
  const list = useDeadInputs(search, isOnKafka);
  const me = useMe();
  const change = useCallback(
    (part: DeadInputsSearch) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const open = useCallback(
    (input: DeadInput) =>
      void navigate({ search: (before) => ({ ...before, input: nameOf(input) }) }),
    [navigate],
  );
  const lackFor = useCallback(
    (permission: Permission | null) => missing(me, permission, null),
    [me],
  );
  const columns = useMemo(() => columnsOf(lackFor, open), [lackFor, open]);
  return (
    <Page
      title="Dead inputs"
      sentence={<Sentence listed={list.data} />}
      actions={isOnKafka ? <ColumnMenu name={NAME} columns={columns} /> : undefined}
      fills
    >
      <QueryView query={executors} lines={14}>
        {({ engine }) =>
          engine === "sql" ? (
            <NoExecutors />
          ) : (
            <Inputs list={list} columns={columns} onOpen={open} onChange={change} />
          )
        }
      </QueryView>
      <InputDialog
        name={isOnKafka ? search.input : undefined}
        lackFor={lackFor}
        onClose={() => change({ input: undefined })}
      />
    </Page>
  );
}

function Sentence({ listed }: { listed: Listed | undefined }) {
  return (
    <>
      Inputs of executions that no{" "}
      <Link to="/executors" activeOptions={{ exact: true }} className={classes.back}>
        executor
      </Link>{" "}
      could work in
      {listed !== undefined &&
        listed.rows.length > 0 &&
        ` · ${listed.hasMore ? "the newest " : ""}${counted(listed.rows.length, "input")}, newest first`}
    </>
  );
}

type InputsProps = {
  list: ReturnType<typeof useDeadInputs>;
  columns: ReturnType<typeof columnsOf>;
  onOpen: (input: DeadInput) => void;
  onChange: (part: DeadInputsSearch) => void;
};

function Inputs({ list, columns, onOpen, onChange }: InputsProps) {
  const { handled, sel } = useSearch({ from: "/shell/executors/dead-inputs" });
  return (
    <>
      <search className={filters.filters}>
        <Chip
          isOn={handled === true}
          onClick={() => onChange({ handled: handled ? undefined : true })}
        >
          Also handled ones
        </Chip>
      </search>
      <QueryView query={list} lines={14}>
        {({ rows, hasMore }) => (
          <DataTable
            name={NAME}
            label="Dead inputs"
            columns={columns}
            rows={rows}
            rowId={nameOf}
            total={rows.length + (hasMore ? 1 : 0)}
            active={sel}
            onActive={(next) => onChange({ sel: next })}
            onOpen={onOpen}
            onEnd={list.more}
            empty="No dead input waits for somebody: each was worked in, or was dealt with."
          />
        )}
      </QueryView>
    </>
  );
}
