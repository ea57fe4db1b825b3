import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { Command } from "@/components/Command";
import filters from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Readable } from "@/components/flow/Readable";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { COLUMNS, NAME } from "./columns";
import { useFlows } from "./data";
import { fitting, sentenceOf } from "./flows";
import type { FlowsSearch } from "./search";

/** All flows, by name. */
export function FlowsPage() {
  return (
    <Readable title="Flows">
      <Listing />
    </Readable>
  );
}

function Listing() {
  const search = useSearch({ from: "/shell/flows" });
  const navigate = useNavigate({ from: "/flows" });
  const list = useFlows();
  const change = useCallback(
    (part: Partial<FlowsSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <Page
      title="Flows"
      sentence={list.data && sentenceOf(list.data)}
      actions={<ColumnMenu name={NAME} columns={COLUMNS} />}
      fills
    >
      <search className={filters.filters}>
        <TextFilter
          label="Name or description"
          width={240}
          value={search.q}
          onChange={(q) => change({ q })}
        />
      </search>
      <QueryView query={list} lines={14}>
        {({ flows, hasMore }) => {
          const rows = fitting(flows, search.q);
          return (
            <DataTable
              name={NAME}
              label="Flows"
              columns={COLUMNS}
              rows={rows}
              rowId={({ flow }) => flow}
              total={rows.length + (hasMore ? 1 : 0)}
              active={search.sel}
              onActive={(sel) => change({ sel })}
              onOpen={({ flow }) => void navigate({ to: "/flows/$flow", params: { flow } })}
              onEnd={list.more}
              empty={flows.length === 0 ? <NoFlow /> : "No flow has these letters."}
            />
          );
        }}
      </QueryView>
    </Page>
  );
}

function NoFlow() {
  return (
    <>
      <p>There is no flow yet. Write one as YAML, check it, and apply it:</p>
      <p>
        <Command text="tidegate flow validate my-flow.yaml" />
      </p>
      <p>
        <Command text="tidegate flow apply my-flow.yaml" />
      </p>
    </>
  );
}
