import { Tooltip } from "@mantine/core";
import { usePreferences } from "@/app/preferences";
import { Unknown } from "@/components/Unknown";
import { spanOfDays } from "@/text/days";
import { moment } from "@/text/times";

type Props = { from: string | null; to: string | null; unknown: string };

/** The time of rows, from the first to the last, by their days. */
export function TimeSpan({ from, to, unknown }: Props) {
  const { zone } = usePreferences();
  if (from === null || to === null) {
    return <Unknown why={unknown} />;
  }
  const [begin, end] = [new Date(from), new Date(to)];
  return (
    <Tooltip label={`${moment(begin, zone)} to ${moment(end, zone)}`}>
      <span>{spanOfDays(begin, end, zone)}</span>
    </Tooltip>
  );
}
