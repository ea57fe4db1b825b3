import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { useNow } from "@/components/Time";
import { useSupervisorId } from "../data";
import { WINDOWS } from "../search";
import { Chart } from "./Chart";
import { Controls } from "./Controls";
import { marksOf, useMarks } from "./marks";
import { isFailed, type Range } from "./phases";
import { RangePanel } from "./RangePanel";
import { RangeTable } from "./RangeTable";
import { useRanges } from "./ranges";
import { SummaryFigures } from "./SummaryFigures";
import type { TimelineSearch } from "./search";
import classes from "./Timeline.module.css";

const HOUR_MS = 3_600_000;
const MARKS_STEP_MS = 300_000;

/** The ranges of a supervisor over time, by group: what each step took, and what went wrong. */
export function Timeline() {
  const id = useSupervisorId();
  const search = useSearch({ from: "/shell/supervisors/$id/timeline" });
  const navigate = useNavigate({ from: "/supervisors/$id/timeline" });
  const change = useCallback(
    (part: Partial<TimelineSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const open = useCallback((range: string | undefined) => change({ range }), [change]);
  const now = useNow();
  const { window = "1h", group, only, range } = search;
  const query = useRanges(id, window, group);
  const events = useMarks(id, window, Math.floor(now / MARKS_STEP_MS) * MARKS_STEP_MS);
  return (
    <QueryView query={query} lines={8}>
      {(found) => {
        const ranges = only === "failed" ? found.ranges.filter(isFailed) : found.ranges;
        return (
          <>
            <SummaryFigures ranges={found.ranges} />
            <div className={classes.split} data-open={range !== undefined}>
              <Panel
                title="Ranges"
                aside={<Controls search={search} ranges={found.ranges} onChange={change} />}
              >
                {found.isCut && (
                  <p className={classes.dim}>
                    The newest ranges of this window: it has more than can be shown at once.
                  </p>
                )}
                {ranges.length === 0 ? (
                  <Empty hours={WINDOWS[window]} search={search} all={found.ranges} />
                ) : search.as === "table" ? (
                  <RangeTable ranges={ranges} active={range} onOpen={open} />
                ) : (
                  <Chart
                    ranges={ranges}
                    marks={marksOf(events.data?.events ?? [])}
                    window={[now - WINDOWS[window] * HOUR_MS, now]}
                    active={range}
                    onOpen={open}
                  />
                )}
              </Panel>
              {range !== undefined && (
                <RangePanel
                  id={range}
                  supervisor={id}
                  range={found.ranges.find((each) => each.id === range)}
                  onClose={() => open(undefined)}
                  onWiden={window === "24h" ? null : () => change({ window: "24h" })}
                />
              )}
            </div>
          </>
        );
      }}
    </QueryView>
  );
}

type EmptyProps = { hours: number; search: TimelineSearch; all: readonly Range[] };

function Empty({ hours, search, all }: EmptyProps) {
  const span = hours === 1 ? "hour" : `${hours} hours`;
  if (search.only === "failed" && all.length > 0) {
    return <p className={classes.dim}>No range failed in the last {span}.</p>;
  }
  return (
    <p className={classes.dim}>
      {search.group === undefined ? "No range" : `No range of group ${search.group}`} was open in
      the last {span}. A suspended supervisor, and one without a topic that it can read, opens none.
    </p>
  );
}
