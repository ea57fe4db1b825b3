import { Tooltip } from "@mantine/core";
import type { IconName } from "@/components/Icon";
import { Mark, type Tone } from "@/components/Mark";
import { known } from "@/text/known";
import { span } from "@/text/times";
import { visible } from "@/text/visible";
import type { ExportRow } from "./rows";

const STATES: Record<string, { tone: Tone; icon: IconName }> = {
  equal: { tone: "good", icon: "good" },
  behind: { tone: "note", icon: "waiting" },
  failing: { tone: "risk", icon: "risk" },
  stuck: { tone: "broken", icon: "broken" },
  off: { tone: "dim", icon: "paused" },
};

/** How an export does; a word of a newer overlord is shown as it is. */
export function ExportMark({ row, hasFormat = false }: { row: ExportRow; hasFormat?: boolean }) {
  const { tone, icon } = known(STATES, row.state) ?? { tone: "note", icon: "note" };
  const words = wordsOf(row);
  const mark = (
    <Mark tone={tone} icon={icon}>
      {hasFormat ? `${row.format} ${words}` : words}
    </Mark>
  );
  return row.problem === "" ? (
    mark
  ) : (
    <Tooltip label={visible(row.problem)}>
      <span>{mark}</span>
    </Tooltip>
  );
}

function wordsOf({ state, lagSeconds }: ExportRow): string {
  return state !== "equal" && state !== "off" && lagSeconds > 0
    ? `${state} ${span(lagSeconds * 1_000)}`
    : state;
}
