import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type Overview, useOverview } from "@/api/overview";
import { SAFETY_MS } from "@/api/query";
import { Command } from "@/components/Command";
import { counted, exact } from "@/text/numbers";
import type { TaskState } from "./search";

type Props = {
  state: TaskState | undefined;
  isNarrowed: boolean;
  /** Whether the list is that of one supervisor. */
  isFixed: boolean;
  onClear: () => void;
};

/** Says why there is no row, and the next step. */
export function Empty({ state, isNarrowed, isFixed, onClear }: Props) {
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
  // The overview knows how many wait in all, and not how many of one supervisor.
  const waiting = state === "pending" && !isFixed ? whoWaits(data?.slots ?? null) : null;
  const hasNoWorker = state === undefined && data?.workers?.alive === 0;
  return (
    <>
      <p>{state === undefined ? whyNoneRuns(data) : `There is no ${NAMES[state]}.`}</p>
      {waiting !== null && (
        <p>
          {waiting} <Link to="/workers">Workers</Link> has the slots.
        </p>
      )}
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

/** Says how many replicas have no task for want of a slot; null: none, as far as is known. */
export function whoWaits(slots: Overview["slots"]): string | null {
  const missing = slots === null ? 0 : slots.needed - slots.used;
  if (slots === null || missing <= slots.free) {
    return null; // those that find a slot free begin with the next pass
  }
  return missing === 1
    ? "1 replica waits for a slot: it becomes a task when one is free."
    : `${exact(missing)} replicas wait for a slot: they become tasks when one is free.`;
}

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
