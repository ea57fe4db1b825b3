import { expect, test } from "vitest";
import { type EventView, marksOf } from "./marks";

function changed(state: string, detailedState: string, healthy: boolean): EventView {
  return {
    id: 1,
    at: "2026-11-28T10:00:00Z",
    type: "state-changed",
    detail: { state, detailedState, healthy },
    supervisorId: "orders",
    generationId: null,
    group: null,
    taskId: null,
    schema: 1,
  };
}

test("a mark looks as its state does everywhere: one that waits is not plainly good", () => {
  const events = [
    changed("RUNNING", "RUNNING", true),
    changed("RUNNING", "NO_CAPACITY", true),
    changed("SUSPENDED", "SUSPENDED", true),
    changed("UNHEALTHY_SUPERVISOR", "OFFSETS_UNREADABLE", false),
  ];

  expect(marksOf(events).map(({ text, tone, icon }) => [text, tone, icon])).toEqual([
    ["RUNNING", "good", "good"],
    ["NO_CAPACITY", "risk", "waiting"],
    ["SUSPENDED", "dim", "paused"],
    ["OFFSETS_UNREADABLE", "broken", "broken"],
  ]);
});
