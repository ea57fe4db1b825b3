import { useMemo } from "react";
import { hasEnded } from "@/components/flow/looks";
import { QueryView } from "@/components/QueryView";
import { DataTable } from "@/components/table/DataTable";
import { EVENT_COLUMNS } from "./columns";
import { type Execution, type ExecutionEvent, useEvents } from "./data";
import classes from "./execution.module.css";
import { heightOf } from "./height";
import { labelOf } from "./tree";

/** What has happened to the execution, in order. */
export function Events({ execution }: { execution: Execution }) {
  const query = useEvents(execution.id, hasEnded(execution.state));
  const labels = useMemo(
    () => new Map(execution.runs.map((run) => [run.id, labelOf(run)])),
    [execution.runs],
  );
  const named = (event: ExecutionEvent) => ({
    ...event,
    step: event.run === null ? "" : (labels.get(event.run) ?? event.run),
  });
  return (
    <QueryView query={query} lines={6}>
      {(events) => (
        <div className={classes.table} style={heightOf(events.length)}>
          <DataTable
            name="execution-events"
            label="Events"
            scrollsByKeys
            columns={EVENT_COLUMNS}
            rows={events.map(named)}
            rowId={({ number }) => String(number)}
            total={events.length + (query.hasMore ? 1 : 0)}
            onEnd={query.more}
            empty="Nothing has happened yet."
          />
        </div>
      )}
    </QueryView>
  );
}
