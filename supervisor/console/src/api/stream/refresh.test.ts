import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pacedBy } from "../query";
import { type Changes, Coalescer, concerns, refresh } from "./refresh";

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

describe("a refresh", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const ANSWER_MS = 2_500;
  const ALL: Changes = { all: true, supervisors: new Set() };

  /** A list that takes long to answer, and is shown. */
  function shownList() {
    const asked = { began: 0, cut: 0 };
    const client = new QueryClient();
    const observer = new QueryObserver(client, {
      queryKey: ["/api/v1/supervisors", {}],
      queryFn: ({ signal }) => {
        asked.began += 1;
        signal.addEventListener("abort", () => {
          asked.cut += 1;
        });
        return new Promise((resolve) => setTimeout(() => resolve(asked.began), ANSWER_MS));
      },
    });
    observer.subscribe(() => undefined);
    return { client, observer, asked };
  }

  it("lets a slow answer come, however many events there are, and asks once more", async () => {
    const { client, observer, asked } = shownList();

    for (let n = 0; n < 2; n += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      refresh(client, of("orders"));
    }
    await vi.advanceTimersByTimeAsync(1_000);

    expect(observer.getCurrentResult().data).toBe(1);
    await vi.advanceTimersByTimeAsync(ANSWER_MS);
    expect(observer.getCurrentResult().data).toBe(2);
    expect(asked).toEqual({ began: 2, cut: 0 });
  });

  it("asks for nothing twice when the stream opens, but again for what is old", async () => {
    const { client, asked } = shownList();
    refresh(client, ALL);
    await vi.advanceTimersByTimeAsync(ANSWER_MS + 1_000);
    refresh(client, ALL);
    await vi.advanceTimersByTimeAsync(2 * ANSWER_MS);
    expect(asked.began).toBe(1);

    refresh(client, ALL);
    await vi.advanceTimersByTimeAsync(2 * ANSWER_MS);
    expect(asked.began).toBe(2);
  });
});

describe("polling of pages", () => {
  it("asks for one page in five seconds, however many there are", () => {
    const paced = pacedBy(5_000);

    expect(paced({ state: { data: undefined } })).toBe(5_000);
    expect(paced({ state: { data: { pages: [1] } } })).toBe(5_000);
    expect(paced({ state: { data: { pages: new Array(50).fill(0) } } })).toBe(250_000);
  });
});
