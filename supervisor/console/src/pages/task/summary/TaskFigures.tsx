import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Span, useNow } from "@/components/Time";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import type { Task } from "../data";
import type { Counted } from "../facts";

type Props = { task: Task; counted: Counted | null | undefined };

/** The few numbers of a task: rows, bad records, bytes, rate, time. */
export function TaskFigures({ task, counted }: Props) {
  const now = useNow();
  const { duration, createdTime, status } = task;
  const runs = status === "RUNNING";
  const why = runs
    ? "It has not reported yet, or the overlord that answers does not lead."
    : "It ended without a report.";
  const bad = counted?.bad;
  return (
    <Figures>
      <Figure name="Rows" note={runs ? "made of what it has read" : "made of what it had read"}>
        <Count value={counted?.processed} unknown={why} />
      </Figure>
      <Figure
        name="Bad records"
        isBad={bad !== undefined && bad > 0}
        note={bad === undefined ? "that became no row" : reasonsOf(counted?.rejected)}
      >
        <Count value={bad} unknown={why} />
      </Figure>
      <Figure name="Bytes" note="of the records">
        <Count value={counted?.bytes} unknown={why} />
      </Figure>
      <Figure name="Rows/s" note="over the last minute">
        <Count
          value={counted?.rowsPerSecond}
          unknown={runs ? "It is younger than 10 s, or has not reported." : "It has ended."}
        />
      </Figure>
      <Figure name={runs ? "Runs for" : "Took"} note={runs ? "until now" : "from begin to end"}>
        <Span
          millis={runs ? now - Date.parse(createdTime) : duration < 0 ? null : duration}
          unknown="When it ended is not on record."
        />
      </Figure>
    </Figures>
  );
}

function reasonsOf(rejected: Counted["rejected"] | undefined): string {
  const reasons = [...(rejected ?? [])].filter(([, count]) => count > 0);
  return reasons.length === 0
    ? "that became no row"
    : reasons.map(([reason, count]) => `${exact(count)} ${visible(reason)}`).join(", ");
}
