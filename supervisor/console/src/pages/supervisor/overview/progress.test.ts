import { expect, test } from "vitest";
import { replicasOf, waitOf } from "./progress";

const READ = { generationId: "clicks:1", state: "READING" } as const;
const UNREAD = { generationId: "clicks:2", state: "READING" } as const;
const TASKS = [
  { generationId: "clicks:1", phase: "READING" },
  { generationId: "clicks:1", phase: null },
] as unknown as Parameters<typeof replicasOf>[1];

test("a range that no task reads waits, for a slot where slots are needed", () => {
  expect(waitOf(READ, TASKS, 8)).toBeNull();
  expect(waitOf(UNREAD, TASKS, 8)).toBe("waits for a slot");
  expect(waitOf(UNREAD, TASKS, 0)).toBe("waits for a task");
  expect(waitOf({ ...UNREAD, state: "PUBLISHING" }, TASKS, 8)).toBeNull();
});

test("a task that its worker has not reported has its slot: it starts", () => {
  expect(replicasOf("clicks:1", TASKS)).toBe("1 reading, 1 starting");
  expect(replicasOf("clicks:2", TASKS)).toBe("");
});
