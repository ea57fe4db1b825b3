import { usePreferences } from "@/app/preferences";
import { Unknown } from "@/components/Unknown";
import { exact } from "@/text/numbers";
import { preciseClock } from "@/text/times";
import type { Range } from "./phases";
import classes from "./Timeline.module.css";

const NOT_YET = "It is not over, or was not needed.";

/** When each step of a range began, and how long it took, to the millisecond. */
export function Steps({ range }: { range: Range }) {
  const { durations } = range;
  const steps = [
    ["reading", range.openedAt, durations.reading],
    ["pausing", range.pausingAt, durations.pausing],
    ["finishing", range.endFixedAt, durations.finishing],
    ["publishing", range.firstFinishedAt, durations.publishing],
    ["ended", range.endedAt, durations.total],
  ] as const;
  return (
    <table className={classes.list}>
      <caption>Steps</caption>
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Since</th>
          <th scope="col" data-align="right">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {steps.map(([name, at, millis]) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{at === null ? <Unknown why={NOT_YET} /> : <Precise at={at} />}</td>
            <td data-align="right">
              {millis === null ? (
                <Unknown why={NOT_YET} />
              ) : (
                `${name === "ended" ? "in all " : ""}${exact(millis)} ms`
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Precise({ at }: { at: string }) {
  const { zone } = usePreferences();
  return <time dateTime={at}>{preciseClock(new Date(at), zone)}</time>;
}
