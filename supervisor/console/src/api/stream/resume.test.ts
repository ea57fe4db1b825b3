import { describe, expect, it } from "vitest";
import { afterEnd, type End, type Place } from "./resume";

const behind: Place = { lastId: "17", failures: 0 };
const refused = (status: number, retryAfter: number | null = null): End => ({
  kind: "refused",
  status,
  retryAfter,
});

describe("after the end of a stream", () => {
  it("goes on at once behind the last id, when the overlord has ended it", () => {
    const next = afterEnd({ lastId: "17", failures: 3 }, { kind: "ended" });

    expect(next).toEqual({ go: true, place: behind, waitMs: 0, anew: false });
  });

  it("waits longer with each loss, at most 10 s, and keeps its place", () => {
    const waits: number[] = [];
    let place = behind;
    for (let n = 0; n < 7; n += 1) {
      const next = afterEnd(place, { kind: "lost" });
      if (next.go) {
        waits.push(next.waitMs);
        place = next.place;
        expect(next.anew).toBe(false);
      }
    }

    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    expect(place.lastId).toBe("17");
  });

  it("looks at everything anew after a silence", () => {
    expect(afterEnd(behind, { kind: "silent" })).toMatchObject({ waitMs: 0, anew: true });
  });

  it("begins from now on where its id is of another database", () => {
    expect(afterEnd(behind, refused(400))).toEqual({
      go: true,
      place: { lastId: null, failures: 0 },
      waitMs: 0,
      anew: true,
    });
  });

  it("does not ask again and again for what is refused without an id too", () => {
    const next = afterEnd({ lastId: null, failures: 2 }, refused(400));

    expect(next).toMatchObject({ go: true, waitMs: 2_000, anew: false });
  });

  it("ends with the session", () => {
    expect(afterEnd(behind, refused(401))).toEqual({ go: false, reason: "session-over" });
  });

  it.each([429, 503])("waits as long as the overlord says after a %d", (status) => {
    expect(afterEnd(behind, refused(status, 7))).toMatchObject({
      place: { lastId: "17", failures: 1 },
      waitMs: 7_000,
    });
  });
});
