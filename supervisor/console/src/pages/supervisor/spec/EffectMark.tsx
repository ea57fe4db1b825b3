import { Tooltip } from "@mantine/core";
import type { IconName } from "@/components/Icon";
import { Mark, type Tone } from "@/components/Mark";
import { known } from "@/text/known";
import { EFFECTS } from "./facts";

const MARKS: Readonly<Record<string, { tone: Tone; icon: IconName }>> = {
  hot: { tone: "good", icon: "good" },
  "restart-supervisor": { tone: "risk", icon: "paused" },
  "restart-tasks": { tone: "risk", icon: "steady" },
};

/** How much a change disturbs; a word of a newer overlord is shown as it is. */
export function EffectMark({ effect }: { effect: string }) {
  const { tone, icon } = known(MARKS, effect) ?? { tone: "note" as const, icon: "note" as const };
  const words: Readonly<Record<string, string>> = EFFECTS;
  return (
    <Tooltip label={words[effect] ?? effect}>
      <span>
        <Mark tone={tone} icon={icon}>
          {effect}
        </Mark>
      </span>
    </Tooltip>
  );
}
