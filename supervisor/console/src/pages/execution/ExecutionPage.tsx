import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Graph } from "@/components/flow/Graph";
import { everyStep } from "@/components/flow/plan";
import { Readable } from "@/components/flow/Readable";
import { JsonText } from "@/components/JsonText";
import { Page } from "@/components/Page";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { visible } from "@/text/visible";
import { stepColumns } from "./columns";
import { type Execution, useExecution, useExecutionId, useGraphs } from "./data";
import { Events } from "./Events";
import classes from "./execution.module.css";
import { Head } from "./Head";
import { RunDialog } from "./RunDialog";
import { STEPS, Steps } from "./Steps";
import type { ExecutionSearch } from "./search";
import { Timeline } from "./Timeline";
import { standingsOf, treeOf } from "./tree";
import { Verbs } from "./Verbs";
import { Waits } from "./Waits";

/** One execution: its state, what it waits for, its steps as graph, chart and table. */
export function ExecutionPage() {
  const title = visible(useExecutionId());
  return (
    <Readable title={title}>
      <Shown />
    </Readable>
  );
}

function Shown() {
  const id = useExecutionId();
  const query = useExecution(id);
  return (
    <Page
      title={visible(id)}
      actions={query.data && <Verbs execution={query.data} />}
      sentence={query.data && <Head execution={query.data} />}
    >
      <QueryView query={query} lines={12}>
        {(execution) => <Parts execution={execution} />}
      </QueryView>
    </Page>
  );
}

function Parts({ execution }: { execution: Execution }) {
  const { runs, flow, flowVersion } = execution;
  const search = useSearch({ from: "/shell/executions/$execution" });
  const navigate = useNavigate({ from: "/executions/$execution" });
  const graphs = useGraphs(flow, flowVersion);
  const types = useMemo(
    () => new Map(everyStep(graphs.data ?? []).map(({ name, type }) => [name, type])),
    [graphs.data],
  );
  const rows = useMemo(() => treeOf(runs), [runs]);
  const standings = useMemo(() => standingsOf(runs), [runs]);
  const change = useCallback(
    (part: Partial<ExecutionSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const open = useCallback((run: string) => change({ run, sel: run }), [change]);
  const columns = stepColumns({ execution, types, onOpen: open });
  return (
    <>
      <Waits execution={execution} types={types} />
      <Panel title="Graph">
        <QueryView query={graphs} lines={4}>
          {(known) => <Graph graphs={known} standings={standings} onOpen={open} />}
        </QueryView>
      </Panel>
      <Panel title="Steps" aside={<ColumnMenu name={STEPS} columns={columns} />}>
        <Steps
          execution={execution}
          rows={rows}
          types={types}
          active={search.sel}
          onActive={(sel) => change({ sel })}
          onOpen={open}
        />
      </Panel>
      {rows.length > 0 && (
        <Panel title="Time">
          <Timeline execution={execution} rows={rows} onOpen={open} />
        </Panel>
      )}
      <div className={classes.columns}>
        <Panel title="Inputs">
          <JsonText value={execution.inputs} label="Inputs as JSON" />
        </Panel>
        <Panel title="Outputs">
          <JsonText value={execution.outputs} label="Outputs as JSON" />
        </Panel>
      </div>
      <Panel title="Events">
        <Events execution={execution} />
      </Panel>
      <RunDialog
        execution={execution}
        types={types}
        run={runs.find(({ id }) => id === search.run)}
        onClose={() => change({ run: undefined })}
      />
    </>
  );
}
