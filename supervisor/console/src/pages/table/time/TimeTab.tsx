import { Button, SegmentedControl } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { counted, exact, short } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { useStats, useTableName } from "../data";
import { BUCKET_NAMES, BUCKETS, type Bucket, type Measure, type TimeSearch } from "../search";
import { BucketTable } from "./BucketTable";
import { bucketFor, sumsOf, type TimeBucket } from "./shape";
import { TimeChart } from "./TimeChart";
import classes from "./TimeTab.module.css";

export const BUCKET_WORDS: Record<Bucket, string> = {
  PT1H: "hour",
  PT6H: "6 hours",
  P1D: "day",
  P7D: "7 days",
  P30D: "30 days",
};
const MEASURE_WORDS: Record<Measure, string> = { rows: "Rows", bytes: "Size", files: "Files" };
const SAMPLE = 50;

/** The table by the time of its rows: bars and a table of buckets, each of which leads to files. */
export function TimeTab() {
  const name = useTableName();
  const search = useSearch({ from: "/shell/tables/$ds/time" });
  const navigate = useNavigate({ from: "/tables/$ds/time" });
  const fileMs = useFileMs(name);
  const stats = useStats(name).data;
  const spanMs =
    stats?.timeMin && stats.timeMax ? Date.parse(stats.timeMax) - Date.parse(stats.timeMin) : 0;
  const bucket = search.bucket ?? bucketFor(spanMs, fileMs ?? BUCKETS.P1D);
  const query = useApi(
    "/api/v1/datasources/{data_source}/timeline",
    {
      path: { data_source: name },
      query: { bucket, ...(search.to === undefined ? {} : { to: search.to }) },
    },
    SAFETY_MS,
  );
  const change = useCallback(
    (part: Partial<TimeSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const measure = search.show ?? "rows";
  return (
    <Panel
      title={`${MEASURE_WORDS[measure]} by ${BUCKET_WORDS[bucket]}`}
      aside={
        <div className={classes.controls}>
          <SegmentedControl
            aria-label="What the bars show"
            size="xs"
            data={Object.entries(MEASURE_WORDS).map(([value, label]) => ({ value, label }))}
            value={measure}
            onChange={(value) => change({ show: value as Measure })}
          />
          <SegmentedControl
            aria-label="Length of a bucket"
            size="xs"
            data={BUCKET_NAMES.map((value) => ({ value, label: BUCKET_WORDS[value] }))}
            value={bucket}
            onChange={(value) => change({ bucket: value as Bucket })}
          />
        </div>
      }
    >
      <QueryView query={query} lines={8}>
        {({ buckets, more }) =>
          buckets.length === 0 ? (
            <Empty search={search} onChange={change} />
          ) : (
            <>
              <p className={classes.sum}>{sentenceOf(buckets)}</p>
              <TimeChart
                name={name}
                buckets={buckets}
                bucketMs={BUCKETS[bucket]}
                fileMs={fileMs ?? 0}
                measure={measure}
              />
              <div className={classes.pages}>
                {more && (
                  <Button onClick={() => change({ to: buckets[0]?.start })}>Older ones</Button>
                )}
                {search.to !== undefined && (
                  <Button onClick={() => change({ to: undefined })}>The newest</Button>
                )}
              </div>
              <BucketTable
                name={name}
                buckets={buckets}
                bucketMs={BUCKETS[bucket]}
                fileMs={fileMs ?? 0}
              />
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}

type EmptyProps = { search: TimeSearch; onChange: (part: Partial<TimeSearch>) => void };

function Empty({ search, onChange }: EmptyProps) {
  return search.to === undefined ? (
    <p>It has no file: rows come with the first publication.</p>
  ) : (
    <>
      <p>No file of it begins before that time.</p>
      <Button mt="xs" onClick={() => onChange({ to: undefined })}>
        The newest
      </Button>
    </>
  );
}

function sentenceOf(buckets: readonly TimeBucket[]): string {
  const { rows, bytes: size, files, small, unused } = sumsOf(buckets);
  return [
    `${short(rows)} rows in ${counted(buckets.length, "bucket")}`,
    bytes(size),
    `${exact(files)} files`,
    `${exact(small)} of them small`,
    ...(unused > 0n ? [`${exact(unused)} taken out`] : []),
  ].join(" · ");
}

/** The longest interval of some of its files, in ms; undefined: not known yet, or it has none. */
function useFileMs(name: string): number | undefined {
  const { data } = useApi(
    "/api/v1/datasources/{data_source}/segments",
    { path: { data_source: name }, query: { limit: SAMPLE } },
    SAFETY_MS,
  );
  const lengths = data?.segments.map(
    ({ intervalStart, intervalEnd }) => Date.parse(intervalEnd) - Date.parse(intervalStart),
  );
  return lengths === undefined || lengths.length === 0 ? undefined : Math.max(...lengths);
}
