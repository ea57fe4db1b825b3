import type { Look } from "@/components/stateLook";
import { known } from "@/text/known";

const LOOKS: Record<string, Look> = {
  CREATED: { tone: "dim", icon: "waiting" },
  QUEUED: { tone: "note", icon: "waiting" },
  SUBMITTED: { tone: "note", icon: "waiting" },
  RUNNING: { tone: "good", icon: "good" },
  WAITING: { tone: "note", icon: "waiting" },
  PAUSED: { tone: "note", icon: "paused" },
  RETRYING: { tone: "risk", icon: "risk" },
  KILLING: { tone: "risk", icon: "waiting" },
  SUCCESS: { tone: "good", icon: "done" },
  FAILED: { tone: "broken", icon: "broken" },
  LOST: { tone: "broken", icon: "risk" },
  KILLED: { tone: "dim", icon: "close" },
  SKIPPED: { tone: "dim", icon: "steady" },
};

/** How a state of an execution, of a step or of an attempt is shown. */
export function lookOf(state: string): Look {
  return known(LOOKS, state) ?? { tone: "note", icon: "note" };
}

const ENDS = ["SUCCESS", "FAILED", "KILLED"];

/** Whether an execution in this state changes no more. */
export function hasEnded(state: string): boolean {
  return ENDS.includes(state);
}
