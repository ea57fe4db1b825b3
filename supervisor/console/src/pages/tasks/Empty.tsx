import { Button } from "@mantine/core";
import { type Overview, useOverview } from "@/api/overview";
import { SAFETY_MS } from "@/api/query";
import { Command } from "@/components/Command";
import { counted } from "@/text/numbers";
import type { TaskState } from "./search";

type Props = {
  state: TaskState | undefined;
  isNarrowed: boolean;
  onClear: () => void;
};

/** Says why there is no row, and the next step. */
export function Empty({ state, isNarrowed, onClear }: Props) {
  const { data } = useOverview(SAFETY_MS);
  if (isNarrowed) {
    return (
      <>
        <p>{`No ${NAMES[state ?? "active"]} fits the filters.`}</p>
        <Button mt="xs" onClick={onClear}>
          Clear filters
        </Button>
      </>
    );
  }
  const hasNoWorker = state === undefined && data?.workers?.alive === 0;
  return (
    <>
      <p>{state === undefined ? whyNoneRuns(data) : `There is no ${NAMES[state]}.`}</p>
      {hasNoWorker && (
        <p>
          Start a worker: <Command text="tidegate worker" />
        </p>
      )}
    </>
  );
}

const NAMES: Record<TaskState | "active", string> = {
  active: "running or pending task",
  running: "running task",
  pending: "pending task",
  "own-failures": "task that failed by itself",
  failed: "failed task",
  succeeded: "task that succeeded",
  all: "task",
};

type Facts = Pick<Overview, "supervisors" | "workers" | "slots"> | undefined;

/** Says why no task runs, by what the overlord knows of supervisors, workers and slots. */
export function whyNoneRuns(facts: Facts): string {
  const supervisors = facts?.supervisors;
  if (!supervisors) {
    return "No task runs.";
  }
  const { total, suspended } = supervisors;
  if (total === 0) {
    return "No task runs: there is no supervisor yet.";
  }
  const all = counted(total, "supervisor");
  if (suspended === total) {
    return `No task runs: ${all}, ${total === 1 ? "suspended" : "all suspended"}.`;
  }
  const others = suspended === 0 ? all : `${all}, ${suspended} of them suspended`;
  if (facts.workers?.alive === 0) {
    return `No task runs: ${others}, and no worker is connected.`;
  }
  const needed = facts.slots?.needed ?? 0;
  return needed === 0
    ? `No task runs: ${others}, and none has anything to read now.`
    : `No task runs yet: ${others}, which want ${counted(needed, "task")}.`;
}
