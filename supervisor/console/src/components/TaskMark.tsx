import { known } from "@/text/known";
import type { IconName } from "./Icon";
import { Mark, type Tone } from "./Mark";

const STATUSES: Record<string, { tone: Tone; icon: IconName }> = {
  RUNNING: { tone: "good", icon: "good" },
  PENDING: { tone: "risk", icon: "waiting" },
  SUCCESS: { tone: "good", icon: "done" },
  FAILED: { tone: "broken", icon: "broken" },
};

/** A task's status; one that its worker has not reported yet is pending. */
export function TaskMark({ status, runner }: { status: string; runner?: string }) {
  const word = runner === "PENDING" ? runner : status;
  const { tone, icon } = known(STATUSES, word) ?? { tone: "note", icon: "note" };
  return (
    <Mark tone={tone} icon={icon}>
      {word}
    </Mark>
  );
}
