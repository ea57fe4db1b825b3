import { Icon, type IconName } from "./Icon";
import classes from "./Mark.module.css";

export type Tone = "broken" | "risk" | "note" | "good" | "dim";

/** A state: icon, word and colour, so that none of them has to be seen alone. */
export function Mark({ tone, icon, children }: { tone: Tone; icon: IconName; children: string }) {
  return (
    <span className={classes.mark} data-tone={tone}>
      <Icon name={icon} size={12} />
      <span>{children}</span>
    </span>
  );
}

const SEVERITIES: Record<string, { tone: Tone; icon: IconName; word: string }> = {
  broken: { tone: "broken", icon: "broken", word: "broken" },
  "at-risk": { tone: "risk", icon: "risk", word: "at risk" },
  "to-know": { tone: "note", icon: "note", word: "to know" },
};

/** How badly an item needs somebody; a word of a newer overlord is shown as it is. */
export function SeverityMark({ severity }: { severity: string }) {
  const { tone, icon, word } = SEVERITIES[severity] ?? {
    tone: "note",
    icon: "note",
    word: severity,
  };
  return (
    <Mark tone={tone} icon={icon}>
      {word}
    </Mark>
  );
}

const STATES: Record<string, { tone: Tone; icon: IconName }> = {
  PENDING: { tone: "dim", icon: "waiting" },
  RUNNING: { tone: "good", icon: "good" },
  SUSPENDED: { tone: "dim", icon: "paused" },
  IDLE: { tone: "dim", icon: "note" },
  COMPLETED: { tone: "good", icon: "done" },
  STOPPING: { tone: "note", icon: "waiting" },
  UNHEALTHY_SUPERVISOR: { tone: "broken", icon: "broken" },
  UNHEALTHY_TASKS: { tone: "broken", icon: "broken" },
};

type Props = { state: string; detailed: string; healthy: boolean };

/** A supervisor's state, by its detailed word. */
export function StateMark({ state, detailed, healthy }: Props) {
  const known = STATES[state] ?? { tone: "note" as const, icon: "note" as const };
  const { tone, icon } = healthy ? known : { tone: "broken" as const, icon: "broken" as const };
  const isWaiting = healthy && state === "RUNNING" && detailed !== state;
  return isWaiting ? (
    <Mark tone="risk" icon="waiting">
      {detailed}
    </Mark>
  ) : (
    <Mark tone={tone} icon={icon}>
      {detailed}
    </Mark>
  );
}
