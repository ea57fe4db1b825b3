import { known } from "@/text/known";
import { visible } from "@/text/visible";
import { Icon, type IconName } from "./Icon";
import classes from "./Mark.module.css";
import { lookOf, type Tone } from "./stateLook";

export type { Tone } from "./stateLook";

/** A state: icon, word and colour, so that none of them has to be seen alone. */
export function Mark({ tone, icon, children }: { tone: Tone; icon: IconName; children: string }) {
  return (
    <span className={classes.mark} data-tone={tone}>
      <Icon name={icon} size={12} />
      <span>{visible(children)}</span>
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
  const { tone, icon, word } = known(SEVERITIES, severity) ?? {
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

type Props = { state: string; detailed: string; healthy: boolean };

/** A supervisor's state, by its detailed word. */
export function StateMark({ state, detailed, healthy }: Props) {
  return <Mark {...lookOf(state, detailed, healthy)}>{detailed}</Mark>;
}
