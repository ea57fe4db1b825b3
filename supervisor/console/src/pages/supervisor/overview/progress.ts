import type { Status, StatusGroup, StatusTask } from "../data";

/** What a range waits for that should be read, and that no task reads; null: it does not wait. */
export function waitOf(
  group: Pick<StatusGroup, "generationId" | "state">,
  tasks: readonly Pick<StatusTask, "generationId">[],
  slotsNeeded: Status["slotsNeeded"],
): string | null {
  const isRead = tasks.some(({ generationId }) => generationId === group.generationId);
  if (isRead || group.state !== "READING") {
    return null;
  }
  // Without a lack of slots it is the pause before a task that failed is replaced.
  return slotsNeeded > 0 ? "waits for a slot" : "waits for a task";
}

/** How much of its time a reading range has used, 0 to 1; null: its end is not one of time. */
export function progressOf(group: StatusGroup, now: number): number | null {
  if (group.nextPublishDue === null || group.state !== "READING") {
    return null;
  }
  const begin = Date.parse(group.openedAt);
  const due = Date.parse(group.nextPublishDue);
  return due <= begin ? 1 : Math.min(Math.max((now - begin) / (due - begin), 0), 1);
}

/** Says what the replicas of a range do: "2 reading", "1 publishing, 1 starting". */
export function replicasOf(generationId: string, tasks: readonly StatusTask[]): string {
  const counts = new Map<string, number>();
  for (const task of tasks) {
    if (task.generationId === generationId) {
      const word = (task.phase ?? "starting").toLowerCase();
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return [...counts].map(([word, number]) => `${number} ${word}`).join(", ");
}
