import { expect, test, vi } from "vitest";
import { lackOf, OutageStore, outageIn } from "./outage";
import type { Overview } from "./overview";
import { noAnswer, Problem } from "./problem";

function overview(ok: boolean, leads: boolean, since: string | null = null): Overview {
  const leader = leads ? { url: "http://one", term: 1, since: "2026-01-05T03:00:00Z" } : null;
  const item = { about: { kind: "cluster", id: "" }, since };
  return { database: { ok, millis: null }, leader, attention: [item] } as unknown as Overview;
}

test("a GET that lacks the database or a leader says so by its kind", () => {
  expect(lackOf(new Problem(503, "metadata-unavailable", "", ""))).toBe("database");
  expect(lackOf(new Problem(503, "not-the-leader", "", ""))).toBe("leader");
  expect(lackOf(new Problem(503, "worker-unavailable", "", ""))).toBeNull();
  expect(lackOf(noAnswer("gone"))).toBeNull();
  expect(lackOf(null)).toBeNull();
});

test("an overview without a leader is an outage, and a silent database is the worse one", () => {
  expect(outageIn(overview(true, true))).toBeNull();
  expect(outageIn(overview(true, false))).toEqual({ kind: "leader", since: null });
  const at = "2026-01-05T03:00:01Z";
  expect(outageIn(overview(false, false, at))).toEqual({ kind: "database", since: Date.parse(at) });
});

test("an outage keeps its beginning, takes the overlord's word for it, and ends", () => {
  let now = 1_000;
  const store = new OutageStore(() => now);
  const heard = vi.fn();
  store.subscribe(heard);

  store.suspect();
  expect([store.isOn(), store.outage()]).toEqual([true, null]);
  store.begin("leader", null);
  const first = store.outage();
  now = 5_000;
  store.begin("leader", null);
  expect(store.outage()).toBe(first);
  expect(first).toEqual({ kind: "leader", since: 1_000 });
  store.begin("leader", 400);
  expect(store.outage()?.since).toBe(400);
  store.begin("database", null);
  expect(store.outage()).toEqual({ kind: "database", since: 5_000 });
  store.end();
  expect([store.isOn(), store.outage()]).toEqual([false, null]);
  expect(heard).toHaveBeenCalledTimes(6);
});
