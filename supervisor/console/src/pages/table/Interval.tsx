import { usePreferences } from "@/app/preferences";
import { minute } from "@/text/days";
import { millisWords } from "@/text/durations";

/** An interval of files: its begin, and how long it is. */
export function Interval({ from, to }: { from: string; to: string }) {
  const { zone } = usePreferences();
  const millis = Date.parse(to) - Date.parse(from);
  return (
    <span title={`${from}/${to}`}>{`${minute(new Date(from), zone)}, ${millisWords(millis)}`}</span>
  );
}
