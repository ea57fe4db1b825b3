import { known } from "@/text/known";
import type { IconName } from "./Icon";

export type Tone = "broken" | "risk" | "note" | "good" | "dim";

export type Look = { tone: Tone; icon: IconName };

const STATES: Record<string, Look> = {
  PENDING: { tone: "dim", icon: "waiting" },
  RUNNING: { tone: "good", icon: "good" },
  SUSPENDED: { tone: "dim", icon: "paused" },
  IDLE: { tone: "dim", icon: "note" },
  COMPLETED: { tone: "good", icon: "done" },
  STOPPING: { tone: "note", icon: "waiting" },
  UNHEALTHY_SUPERVISOR: { tone: "broken", icon: "broken" },
  UNHEALTHY_TASKS: { tone: "broken", icon: "broken" },
};

/** How a supervisor's state is shown: one that runs, and waits for something, is not plainly good. */
export function lookOf(state: string, detailed: string, isHealthy: boolean): Look {
  if (!isHealthy) {
    return { tone: "broken", icon: "broken" };
  }
  if (state === "RUNNING" && detailed !== state) {
    return { tone: "risk", icon: "waiting" };
  }
  return known(STATES, state) ?? { tone: "note", icon: "note" };
}
