import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Changes, Coalescer, concerns } from "./refresh";

const of = (...supervisors: string[]): Changes => ({
  all: false,
  supervisors: new Set(supervisors),
});

describe("what changes concern", () => {
  const status = (id: string) => [
    "/druid/indexer/v1/supervisor/{supervisor_id}/status",
    { path: { supervisor_id: id } },
  ];

  it("is every list, and the queries of their supervisor", () => {
    expect(concerns(["/api/v1/supervisors", { query: { q: "a" } }], of("orders"))).toBe(true);
    expect(concerns(["/api/v1/overview", {}], of("orders"))).toBe(true);
    expect(concerns(status("orders"), of("orders", "clicks"))).toBe(true);
    expect(concerns(status("orders"), of("clicks"))).toBe(false);
    expect(concerns(["/status", {}], of("clicks"))).toBe(false);
  });

  it("is everything but the caller, if events were missed", () => {
    const all: Changes = { all: true, supervisors: new Set() };

    expect(concerns(status("orders"), all)).toBe(true);
    expect(concerns(["/api/v1/me", {}], all)).toBe(false);
  });
});

describe("the coalescer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("hands many changes on at once, at most once a second", () => {
    const handed: Changes[] = [];
    const coalescer = new Coalescer((changes) => handed.push(changes));

    for (let n = 0; n < 400; n += 1) {
      coalescer.add(`s-${n % 3}`);
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(1_000);

    expect(handed).toHaveLength(4);
    expect(handed[0]).toEqual({ all: false, supervisors: new Set(["s-0", "s-1", "s-2"]) });
  });

  it("remembers that everything is to be looked at until it has handed it on", () => {
    const handed: Changes[] = [];
    const coalescer = new Coalescer((changes) => handed.push(changes));

    coalescer.add(null);
    coalescer.add("orders");
    vi.advanceTimersByTime(1_000);
    coalescer.add("orders");
    vi.advanceTimersByTime(1_000);

    expect(handed.map(({ all }) => all)).toEqual([true, false]);
  });
});
