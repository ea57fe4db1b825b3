import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { QueryView } from "@/components/QueryView";
import { DataTable } from "@/components/table/DataTable";
import { useStatus, useSupervisorId } from "../data";
import split from "../split.module.css";
import { BadChart } from "./BadChart";
import { BadFigures } from "./BadFigures";
import { BadFilters } from "./BadFilters";
import { COLUMNS, NAME } from "./columns";
import { policyOf, useSpec } from "./policy";
import { type Kept, nameOf, useKept } from "./quarantine";
import { RecordPanel } from "./RecordPanel";
import { Replay } from "./Replay";
import { Samples } from "./Samples";
import type { BadRecordsSearch } from "./search";
import { useSummary } from "./summary";

/** The records that could not be read: how many for which reason, and each as it was sent. */
export function BadRecords() {
  const id = useSupervisorId();
  const search = useSearch({ from: "/shell/supervisors/$id/bad-records" });
  const navigate = useNavigate({ from: "/supervisors/$id/bad-records" });
  const change = useCallback(
    (part: Partial<BadRecordsSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const rejected = useStatus(id).data?.payload.rejected;
  const kept = useKept(id, search, rejected?.published);
  const summary = useSummary(id, search, rejected?.published);
  const spec = useSpec(id);
  const policy = spec.data === undefined ? null : policyOf(spec.data);
  return (
    <QueryView query={kept} lines={8}>
      {(data) => (
        <>
          <BadFigures kept={data} rejected={rejected} search={search} />
          <BadFilters kept={data} search={search} onChange={change} />
          {search.view === "samples" ? (
            <Samples id={id} policy={policy} />
          ) : (
            <>
              {data.records.length > 0 && (
                <QueryView query={summary} lines={3}>
                  {(counts) => (
                    <>
                      <BadChart summary={counts} search={search} onChange={change} />
                      <Replay id={id} summary={counts} search={search} />
                    </>
                  )}
                </QueryView>
              )}
              <div className={split.split} data-open={search.record !== undefined}>
                <DataTable
                  name={NAME}
                  label="Bad records"
                  columns={COLUMNS}
                  rows={data.records}
                  rowId={nameOf}
                  total={data.records.length + (data.isWhole ? 0 : 1)}
                  active={search.record}
                  onActive={(record) => change({ record })}
                  onEnd={kept.more}
                  empty={<Empty kept={data} policy={policy} />}
                />
                {search.record !== undefined && (
                  <RecordPanel
                    id={id}
                    record={search.record}
                    form={search.as ?? "text"}
                    spec={spec.data}
                    onForm={(form) => change({ as: form === "text" ? undefined : form })}
                    onClose={() => change({ record: undefined })}
                  />
                )}
              </div>
            </>
          )}
        </>
      )}
    </QueryView>
  );
}

function Empty({ kept, policy }: { kept: Kept; policy: string | null }) {
  if (Object.keys(kept.reasons).length > 0) {
    return <p>No bad record that is kept fits the filter.</p>;
  }
  return <p>No bad records: {policy ?? "what becomes of them is in its spec"}.</p>;
}
