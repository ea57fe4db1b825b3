import { Button, SegmentedControl } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Count } from "@/components/Count";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Shape } from "@/components/Shape";
import { Clock, Span, useNow } from "@/components/Time";
import { WINDOWS, type Window } from "../search";
import classes from "./LagPanel.module.css";
import type { LagSample } from "./lagSeries";

const LagChart = lazy(async () => ({ default: (await import("./LagChart")).LagChart }));

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const STEPS: Record<Window, [string, number]> = {
  "1h": ["PT1M", MINUTE_MS],
  "6h": ["PT1M", MINUTE_MS],
  "24h": ["PT5M", 5 * MINUTE_MS],
};

/** How far behind it was, over hours; the same as a table for those who read it. */
export function LagPanel({ id }: { id: string }) {
  const { window = "6h" } = useSearch({ from: "/shell/supervisors/$id/overview" });
  const navigate = useNavigate({ from: "/supervisors/$id/overview" });
  const [asTable, setAsTable] = useState(false);
  const [step, stepMs] = STEPS[window];
  const minute = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS;
  const begin = minute - WINDOWS[window] * HOUR_MS;
  const from = new Date(begin).toISOString();
  const query = useApi(
    "/api/v1/supervisors/{supervisor_id}/lag",
    { path: { supervisor_id: id }, query: { from, step } },
    SAFETY_MS,
  );
  return (
    <Panel
      title="Lag"
      aside={
        <div className={classes.controls}>
          <Button variant="subtle" size="compact-xs" onClick={() => setAsTable(!asTable)}>
            {asTable ? "Show as a chart" : "Show as a table"}
          </Button>
          <SegmentedControl
            aria-label="Window of time"
            size="xs"
            data={Object.keys(WINDOWS)}
            value={window}
            onChange={(value) =>
              void navigate({
                search: (before) => ({ ...before, window: value as Window }),
                replace: true,
              })
            }
          />
        </div>
      }
    >
      <QueryView query={query} shape={<Shape lines={6} />}>
        {({ samples }) =>
          samples.length === 0 ? (
            <p>No sample yet: one is kept each minute while a leader looks at it.</p>
          ) : asTable ? (
            <LagTable samples={samples} />
          ) : (
            <>
              <Suspense fallback={<Shape lines={6} />}>
                <LagChart
                  samples={samples}
                  stepMs={stepMs}
                  begin={begin}
                  end={minute + MINUTE_MS}
                />
              </Suspense>
              <p className={classes.legend}>
                <span>
                  <i />
                  unread records
                </span>
                <span className={classes.age}>
                  <i />
                  age of the oldest
                </span>
              </p>
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}

function LagTable({ samples }: { samples: readonly LagSample[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
    <section className={classes.table} tabIndex={0} aria-label="Lag over time">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Unread records</th>
            <th scope="col">Oldest</th>
          </tr>
        </thead>
        <tbody>
          {[...samples].reverse().map(({ at, records, millis }) => (
            <tr key={at}>
              <td>
                <Clock at={at} unknown="" />
              </td>
              <td>
                <Count value={records} unknown="Kafka was not read then." />
              </td>
              <td>
                <Span
                  millis={millis === null ? null : Number(millis)}
                  unknown="Nothing was unread, or its age was not known."
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
