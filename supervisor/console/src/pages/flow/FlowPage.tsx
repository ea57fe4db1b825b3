import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { missing, useMe } from "@/api/me";
import { DELETE_FLOW, deleteFlowOf, START } from "@/changes/flows";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { Graph } from "@/components/flow/Graph";
import { graphsOf } from "@/components/flow/plan";
import { Readable } from "@/components/flow/Readable";
import { JsonText } from "@/components/JsonText";
import { Page } from "@/components/Page";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Ago } from "@/components/Time";
import { visible } from "@/text/visible";
import { descriptionOf } from "../flows/flows";
import { type FlowVersion, useFlowName, useVersions } from "./data";
import classes from "./flow.module.css";
import { Inputs } from "./Inputs";
import { Recent } from "./Recent";
import { StartDialog } from "./StartDialog";
import type { FlowSearch } from "./search";
import { Triggers } from "./Triggers";
import { Versions } from "./Versions";

/** One flow: its steps, its triggers, its newest executions, its inputs and its versions. */
export function FlowPage() {
  const title = visible(useFlowName());
  return (
    <Readable title={title}>
      <Shown />
    </Readable>
  );
}

function Shown() {
  const flow = useFlowName();
  const search = useSearch({ from: "/shell/flows/$flow" });
  const navigate = useNavigate({ from: "/flows/$flow" });
  const query = useVersions(flow);
  const newest = query.data?.[0];
  const change = useCallback(
    (part: Partial<FlowSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <Page
      title={visible(flow)}
      sentence={newest && <Sentence newest={newest} />}
      actions={
        newest !== undefined && newest.document !== null ? (
          <Verbs flow={flow} onStart={() => change({ start: true })} />
        ) : undefined
      }
    >
      <QueryView query={query} lines={12}>
        {(versions) => {
          const shown = versions.find(({ version }) => version === search.version) ?? versions[0];
          return (
            shown !== undefined && (
              <>
                <Parts
                  shown={shown}
                  isNewest={shown === versions[0]}
                  isDeleted={newest?.document === null}
                />
                <Panel title="Versions">
                  <Versions
                    versions={versions}
                    hasMore={query.hasMore}
                    shown={shown.version}
                    active={search.sel}
                    onActive={(sel) => change({ sel })}
                    onShow={(version) => change({ version })}
                    onEnd={query.more}
                  />
                </Panel>
                {shown.document !== null && (
                  <Panel title={`Document of version ${shown.version}`}>
                    <JsonText value={shown.document} label="Document" />
                  </Panel>
                )}
              </>
            )
          );
        }}
      </QueryView>
      {newest !== undefined && newest.document !== null && (
        <StartDialog
          flow={newest}
          isOpen={search.start === true}
          from={search.from}
          onClose={() => change({ start: undefined, from: undefined })}
        />
      )}
    </Page>
  );
}

function Verbs({ flow, onStart }: { flow: string; onStart: () => void }) {
  const me = useMe();
  return (
    <>
      <Barred variant="filled" why={missing(me, neededFor("post", START), null)} onClick={onStart}>
        Start…
      </Barred>
      <Barred
        why={missing(me, neededFor("delete", DELETE_FLOW), null)}
        onClick={() => openAction(deleteFlowOf(flow))}
      >
        Delete…
      </Barred>
    </>
  );
}

function Sentence({ newest }: { newest: FlowVersion }) {
  const description = descriptionOf(newest);
  return (
    <div className={classes.line}>
      {description !== "" && (
        <span>
          <Foreign>{description}</Foreign>
        </span>
      )}
      <span>
        {newest.document === null ? "deleted " : `version ${newest.version}, applied `}
        <Ago at={newest.at} unknown="" /> by <Foreign>{newest.author}</Foreign>
      </span>
    </div>
  );
}

type PartsProps = { shown: FlowVersion; isNewest: boolean; isDeleted: boolean };

/** What the version says that is shown, what starts its flow, and what it has done. */
function Parts({ shown, isNewest, isDeleted }: PartsProps) {
  const { flow, version, document } = shown;
  const graphs = useMemo(() => graphsOf(document), [document]);
  return (
    <>
      {!isNewest && document !== null && (
        <p className={classes.deleted} role="status">
          {`This is version ${version}. A newer one is in use.`}
        </p>
      )}
      {document === null ? (
        <p className={classes.deleted} role="status">
          {isNewest
            ? "It is deleted: nothing starts it any more. Roll back to a version to use it again."
            : `Version ${version} deletes it.`}
        </p>
      ) : (
        <Panel title="Graph">
          <Graph graphs={graphs} />
        </Panel>
      )}
      {!isDeleted && <Triggers flow={flow} />}
      <Recent flow={flow} />
      {document !== null && <Inputs document={document} />}
    </>
  );
}
