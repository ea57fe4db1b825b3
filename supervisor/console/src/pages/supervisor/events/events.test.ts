import { expect, test } from "vitest";
import { extended, type Feed, joined } from "./feed";
import { isTrouble, lacksTrimmed, summed } from "./kinds";
import { eventsSearch } from "./search";

function feed(ids: number[], next: string | null = null, missing: string | null = null): Feed {
  const events = ids.map((id) => ({ id }) as Feed["events"][number]);
  return { events, next, completeSince: null, missing };
}

test("a new page comes before what is known, each event once", () => {
  expect(joined(feed([5, 4, 3], "old"), feed([7, 6, 5, 4], "new"))).toEqual(
    feed([7, 6, 5, 4, 3], "old"),
  );
  expect(joined(undefined, feed([2], "new"))).toEqual(feed([2], "new"));
  expect(joined(feed([2], "old"), feed([], null))).toEqual(feed([2], "old"));
});

test("a list with a hole begins anew", () => {
  expect(joined(feed([5, 4], "old"), feed([9, 8], "new"))).toEqual(feed([9, 8], "new"));
});

test("what the archive cannot give is as of the page that reached it", () => {
  const away = "it is away";
  expect(joined(feed([5, 4], null, away), feed([6, 5, 4], null, null))).toEqual(feed([6, 5, 4]));
  expect(joined(feed([5, 4], null, away), feed([6, 5], "b", null))).toEqual(
    feed([6, 5, 4], null, away),
  );
  expect(extended(feed([5], "a"), feed([4], null, away))).toEqual(feed([5, 4], null, away));
});

test("an older page comes behind", () => {
  expect(extended(feed([5, 4], "a"), feed([4, 3], null))).toEqual(feed([5, 4, 3], null));
});

test("what happened is in a line, and troubles are known", () => {
  expect(summed({ version: 3, author: "alice", other: { deep: 1 }, why: "" })).toBe(
    "version 3 · author alice",
  );
  expect(summed({ rows: 9_223_372_036_854_775_807n, why: "its time is over" })).toBe(
    "rows 9223372036854775807 · its time is over",
  );
  expect(isTrouble("task-ended", { status: "FAILED" })).toBe(true);
  expect(isTrouble("task-ended", { status: "SUCCESS" })).toBe(false);
});

test("a list says that events were trimmed only where it would have them", () => {
  const at = "2026-11-28T10:00:00Z";
  expect(lacksTrimmed([], undefined, at)).toBe(true);
  expect(lacksTrimmed(["state-changed", "task-ended"], "2026-11-28T09:00:00.000Z", at)).toBe(true);
  expect(lacksTrimmed(["state-changed", "gap-declared"], undefined, at)).toBe(false);
  expect(lacksTrimmed([], "2026-11-28T10:00:00.000Z", at)).toBe(false);
});

test("an address holds only what can be asked for", () => {
  expect(
    eventsSearch({ type: ["task-ended", "<script>"], since: "2026-11-28T10:00:00Z", until: "x" }),
  ).toEqual({ type: ["task-ended"], since: "2026-11-28T10:00:00.000Z" });
});
