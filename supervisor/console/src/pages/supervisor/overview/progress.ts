import type { StatusGroup, StatusTask } from "../data";

/** How much of its time a reading range has used, 0 to 1; null: its end is not one of time. */
export function progressOf(group: StatusGroup, now: number): number | null {
  if (group.nextPublishDue === null || group.state !== "READING") {
    return null;
  }
  const begin = Date.parse(group.openedAt);
  const due = Date.parse(group.nextPublishDue);
  return due <= begin ? 1 : Math.min(Math.max((now - begin) / (due - begin), 0), 1);
}

/** Says what the replicas of a range do: "2 reading", "1 publishing, 1 waiting". */
export function replicasOf(generationId: string, tasks: readonly StatusTask[]): string {
  const counts = new Map<string, number>();
  for (const task of tasks) {
    if (task.generationId === generationId) {
      const word = (task.phase ?? "waiting for a slot").toLowerCase();
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return [...counts].map(([word, number]) => `${number} ${word}`).join(", ");
}
