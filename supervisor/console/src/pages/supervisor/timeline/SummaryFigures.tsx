import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { Span } from "@/components/Time";
import { exact } from "@/text/numbers";
import type { Range } from "./phases";
import { summaryOf } from "./summary";

/** How handoffs went in the window, in a few numbers. */
export function SummaryFigures({ ranges }: { ranges: readonly Range[] }) {
  const { live, ended, failed, gapP95, publishP95, causes } = summaryOf(ranges);
  return (
    <Figures>
      <Figure name="Ranges" note={`${exact(live)} live`}>
        <Count value={ended + live} unknown="" />
      </Figure>
      <Figure name="Handoff gap, p95" note="from the pause to the fixed end">
        <Span millis={gapP95} unknown="No range of this window was paused to its end." />
      </Figure>
      <Figure name="Publish, p95" note="from the fixed end to the table">
        <Span millis={publishP95} unknown="No range of this window was published." />
      </Figure>
      <Figure
        name="Handed off by time"
        note={`${exact(causes.rows)} by rows, ${exact(causes.other)} for other reasons`}
      >
        <Count value={causes.time} unknown="" />
      </Figure>
      <Figure name="Failed" note="given up, a task failed, or differ" isBad={failed > 0}>
        <Count value={failed} unknown="" />
      </Figure>
    </Figures>
  );
}
