import { describe, expect, it } from "vitest";
import { contactAt, type Heard, QUIET_MS, STALE_MS, skewOf, TICK_MS, UNSAID_MS } from "./contact";

const heard: Heard = { at: 100_000, visibleSince: 0, failingSince: null, streamLostAt: null };

describe("the contact", () => {
  it("is live while the overlord is heard", () => {
    expect(contactAt(100_000 + STALE_MS - 1, heard)).toEqual({ state: "live" });
  });

  it("is said to be lost within 10 s, and not before an answer had time to come", () => {
    expect(STALE_MS + TICK_MS).toBeLessThanOrEqual(10_000);
    expect(QUIET_MS + TICK_MS).toBeLessThan(STALE_MS);
  });

  it("is stale after a while without a sign, whatever the newest tries say", () => {
    for (const failingSince of [null, 109_000]) {
      const now = 100_000 + STALE_MS;
      expect(contactAt(now, { ...heard, failingSince })).toEqual({
        state: "stale",
        since: 100_000,
      });
    }
  });

  it("is being looked for again once a try fails", () => {
    const failing = { ...heard, failingSince: 101_000 };

    expect(contactAt(105_000, failing)).toEqual({ state: "reconnecting", forMs: 4_000 });
  });

  it("does not mention a stream that is back within 3 s", () => {
    const lost = { ...heard, streamLostAt: 101_000 };

    expect(contactAt(101_000 + UNSAID_MS - 1, lost)).toEqual({ state: "live" });
    expect(contactAt(101_000 + UNSAID_MS, lost)).toEqual({
      state: "reconnecting",
      forMs: UNSAID_MS,
    });
  });

  it("is given as long after a page that was hidden is seen again", () => {
    const asleep = { ...heard, visibleSince: 900_000 };

    expect(contactAt(900_000 + STALE_MS - 1, asleep)).toEqual({ state: "live" });
    expect(contactAt(900_000 + STALE_MS, asleep)).toEqual({ state: "stale", since: 100_000 });
  });
});

describe("the overlord's clock", () => {
  const now = Date.parse("2026-11-28T10:00:00.000Z");

  it("corrects that of the browser where they differ by seconds", () => {
    expect(skewOf("Sat, 28 Nov 2026 10:05:00 GMT", now)).toBe(300_000);
    expect(skewOf("Sat, 28 Nov 2026 09:59:59 GMT", now)).toBe(0);
  });

  it("is not known without a date", () => {
    expect(skewOf(null, now)).toBeNull();
    expect(skewOf("yesterday", now)).toBeNull();
  });
});
