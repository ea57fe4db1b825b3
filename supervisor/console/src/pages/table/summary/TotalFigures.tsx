import { usePreferences } from "@/app/preferences";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Size } from "@/components/Size";
import { Age, Clock } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { day } from "@/text/days";
import { exact } from "@/text/numbers";
import { meanBytes, type TableStats } from "../../tables/rows";

const NO_FILE = "No file of it is in use.";

/** The few numbers that say how large, how divided and how fresh a table is. */
export function TotalFigures({ stats }: { stats: TableStats }) {
  const { rows, bytes, files, smallFiles, unusedFiles, timeMin, timeMax, lastPublishedAt } = stats;
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
        <Count value={smallFiles} unknown="" />
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
