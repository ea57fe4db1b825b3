import { expect, test } from "vitest";
import { type Happened, MINUTE_MS, minutesOf, sortOf, wordsOf } from "./hour";

const NOW = Date.parse("2026-01-05T12:30:20Z");

function event(type: string, at: string, detail: Record<string, unknown> = {}): Happened {
  return { id: 1, type, at, supervisorId: "orders", detail } as unknown as Happened;
}

test("an hour has sixty minutes, and each event is in its own", () => {
  const minutes = minutesOf(
    [
      event("generation-published", "2026-01-05T12:30:10Z"),
      event("generation-end-fixed", "2026-01-05T12:29:59Z"),
      event("spec-stored", "2026-01-05T12:29:01Z"),
      event("generation-discarded", "2026-01-05T11:31:00Z"),
      event("spec-stored", "2026-01-05T11:30:59Z"),
    ],
    NOW,
  );

  expect(minutes).toHaveLength(60);
  expect(minutes[0]).toMatchObject({ counts: { failure: 1, change: 0, handoff: 0 } });
  expect(minutes[58]).toMatchObject({ counts: { failure: 0, change: 1, handoff: 1 } });
  expect(minutes[59]).toMatchObject({ at: NOW - 20_000, counts: { handoff: 1 } });
  expect((minutes[59]?.at ?? 0) - (minutes[0]?.at ?? 0)).toBe(59 * MINUTE_MS);
});

test("a minute is put into words, the worst first", () => {
  const [minute] = minutesOf(
    [
      event("generation-published", "2026-01-05T11:31:01Z"),
      event("generation-published", "2026-01-05T11:31:02Z"),
      event("stream-silent", "2026-01-05T11:31:03Z"),
    ],
    NOW,
  );

  expect(minute && wordsOf(minute)).toBe("1 failure, 2 handoffs");
});

test("a state that is good is no failure", () => {
  const at = "2026-01-05T12:00:00Z";
  expect(sortOf(event("state-changed", at, { healthy: false }))).toBe("failure");
  expect(sortOf(event("state-changed", at, { healthy: true }))).toBeNull();
  expect(sortOf(event("supervisor-suspended", at))).toBe("change");
});
