import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { usePreferences } from "@/app/preferences";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Size } from "@/components/Size";
import { Age, Clock } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { day } from "@/text/days";
import { exact } from "@/text/numbers";
import { meanBytes, type TableStats } from "../../tables/rows";
import { sumsOf } from "../time/shape";

const NO_FILE = "No file of it is in use.";
const BUCKETS_MAX = 1_000;

/** The few numbers that say how large, how divided and how fresh a table is. */
export function TotalFigures({ stats }: { stats: TableStats }) {
  const { rows, bytes, files, unusedFiles, timeMin, timeMax, lastPublishedAt } = stats;
  const small = useSmall(stats.name);
  return (
    <Figures>
      <Figure name="Rows" note="published, and in use">
        <Count value={rows} unknown="" />
      </Figure>
      <Figure name="Size" note="of these files">
        <Size value={bytes} unknown="" />
      </Figure>
      <Figure name="Files" note={`${exact(unusedFiles)} taken out`}>
        <Count value={files} unknown="" />
      </Figure>
      <Figure
        name="Small files"
        note={
          <>
            mean file <Size value={meanBytes(stats)} unknown={NO_FILE} />
          </>
        }
      >
        <Count value={small} unknown="It is not counted yet." />
      </Figure>
      <Figure
        name="Time of its newest row"
        note={
          <>
            the oldest <Day at={timeMin} />
          </>
        }
      >
        <Day at={timeMax} />
      </Figure>
      <Figure
        name="Last published"
        note={
          lastPublishedAt === null ? (
            ""
          ) : (
            <>
              at <Clock at={lastPublishedAt} unknown="" />
            </>
          )
        }
      >
        <Age
          at={lastPublishedAt}
          unknown={
            files === 0 && unusedFiles === 0
              ? "Nothing is published yet."
              : "Its supervisors are gone and its files are compacted: the time is not known."
          }
        />
      </Figure>
    </Figures>
  );
}

function Day({ at }: { at: string | null }) {
  const { zone } = usePreferences();
  return at === null ? (
    <Unknown why={NO_FILE} />
  ) : (
    <time dateTime={at}>{day(new Date(at), zone)}</time>
  );
}

/** The files that compaction would take, as the overlord counts them by time. */
function useSmall(name: string): number | bigint | undefined {
  const { data } = useApi(
    "/api/v1/datasources/{data_source}/timeline",
    { path: { data_source: name }, query: { bucket: "P30D", limit: BUCKETS_MAX } },
    SAFETY_MS,
  );
  return data && sumsOf(data.buckets).small;
}
