import { Button } from "@mantine/core";
import { Foreign } from "@/components/Foreign";
import { Icon } from "@/components/Icon";
import { SupervisorLink } from "@/components/SupervisorLink";
import { WorkerLink } from "@/components/WorkerLink";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import classes from "./GroupHead.module.css";
import { NONE, type TaskGroup } from "./groups";
import type { Grouping } from "./search";

const NOUNS: Record<Grouping, string> = {
  supervisor: "supervisor",
  generation: "range",
  worker: "worker",
};

type Props = { by: Grouping; group: TaskGroup; onToggle: () => void };

/** The head of a group: what its tasks have in common, how many they are, and their fold. */
export function GroupHead({ by, group: { key, isUnfolded, words }, onToggle }: Props) {
  const name = key === NONE ? `no ${NOUNS[by]}` : `${NOUNS[by]} ${visible(key)}`;
  return (
    <span className={classes.head}>
      <button
        type="button"
        className={classes.fold}
        aria-expanded={isUnfolded}
        aria-label={`Tasks of ${name}`}
        onClick={onToggle}
      >
        <Icon name="down" size={12} />
      </button>
      <Named by={by} id={key} />
      <span className={classes.words}>{words}</span>
    </span>
  );
}

function Named({ by, id }: { by: Grouping; id: string }) {
  if (id === NONE) {
    return <span className={classes.words}>{`no ${NOUNS[by]}: submitted tasks`}</span>;
  }
  if (by === "supervisor") {
    return <SupervisorLink id={id} />;
  }
  return by === "worker" ? <WorkerLink id={id} /> : <Foreign>{id}</Foreign>;
}

type GroupsProps = { count: number; isWhole: boolean; more: () => void };

/** Says of which tasks the groups are: those of further pages are not counted. */
export function GroupsOf({ count, isWhole, more }: GroupsProps) {
  return isWhole ? null : (
    <p className={classes.note}>
      {`Of the newest ${counted(count, "task")}: older ones are not counted.`}
      <Button size="compact-xs" variant="default" onClick={more}>
        Load more
      </Button>
    </p>
  );
}
