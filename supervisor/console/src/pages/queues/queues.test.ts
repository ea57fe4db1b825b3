import { describe, expect, it } from "vitest";
import { fitting, markOf, nameOf, type Queue, sentenceOf, tablesOf, worstFirst } from "./queues";
import { queueSearch, queuesSearch } from "./search";

function queue(name: string, part: Partial<Queue> = {}): Queue {
  return {
    container: "supervisor:orders",
    name,
    state: "LIVE",
    mode: "CONSUMER",
    outstandingEvents: 0,
    outstandingBytes: 0,
    maxOutstandingBytes: 100,
    oldestAge: null,
    oldest: null,
    latency: null,
    failedIterations: 0,
    lastError: "",
    failedEvents: 0,
    segments: 0,
    deadSeq: null,
    deadWhy: "",
    healthy: true,
    why: "",
    ...part,
  };
}

const IDLE = queue("idle");
const YOUNG = queue("young", { outstandingEvents: 1, oldestAge: 3 });
const OLD = queue("old", { outstandingEvents: 2, oldestAge: 90 });
const ILL = queue("ill", { healthy: false, outstandingEvents: 1, oldestAge: 1 });
const DEAD = queue("dead", { healthy: false, state: "DEAD", failedEvents: 4 });

describe("queues", () => {
  it("stand in the order of their need", () => {
    const names = worstFirst([IDLE, YOUNG, ILL, OLD, DEAD]).map(({ name }) => name);

    expect(names).toEqual(["dead", "ill", "old", "young", "idle"]);
  });

  it("are filtered by name and by need", () => {
    const all = [IDLE, YOUNG, ILL, OLD, DEAD];

    expect(fitting(all, { q: "ORDERS/o" })).toEqual([OLD]);
    expect(fitting(all, { only: "unhealthy" })).toEqual([ILL, DEAD]);
    expect(fitting(all, { only: "aside" })).toEqual([DEAD]);
    expect(fitting(all, { only: "waiting" })).toEqual([YOUNG, ILL, OLD]);
  });

  it("have a sentence, whose events are those that Home counts", () => {
    const now = Date.parse("2026-11-28T12:00:00Z");
    const first = (dueAt: string): NonNullable<Queue["oldest"]> => ({
      seq: 1,
      kind: "",
      key: "",
      enqueuedAt: "2026-11-28T11:50:00Z",
      dueAt,
    });
    const due = { ...OLD, oldest: first("2026-11-28T11:58:30Z") };
    const later = { ...OLD, oldest: first("2026-11-28T12:00:30Z") };
    const ofTable = { ...due, container: "table:orders" };

    expect(sentenceOf([IDLE], now)).toBe("nothing waits · 1 queue");
    expect(sentenceOf([later], now)).toBe("2 events wait, none is due yet · 1 queue");
    expect(sentenceOf([DEAD, ILL, due], now)).toBe(
      "1 dead · 1 in trouble · 3 events wait, the first has been due for 1 m 30 s · 4 events set aside · 3 queues",
    );
    expect(sentenceOf([IDLE, ofTable], now)).toBe("nothing waits · 2 events of exports · 2 queues");
  });

  it("have a mark and a name", () => {
    expect([DEAD, ILL, IDLE].map((each) => markOf(each).word)).toEqual([
      "dead",
      "in trouble",
      "live",
    ]);
    expect(nameOf(IDLE)).toBe("supervisor:orders/idle");
  });

  it("belong to tables", () => {
    expect(tablesOf("supervisor:orders", "sales")).toEqual(["sales", "orders"]);
    expect(tablesOf("table:a:b", null)).toEqual(["a:b"]);
    expect(tablesOf("cluster", null)).toEqual([]);
  });

  it("are found by any URL", () => {
    expect(queuesSearch({ only: "all", q: "x" })).toStrictEqual({
      q: "x",
      only: undefined,
      sel: undefined,
    });
    expect(queueSearch({ event: "7" }).event).toBe(7);
    expect(queueSearch({ event: "7e9" }).event).toBeUndefined();
  });
});
