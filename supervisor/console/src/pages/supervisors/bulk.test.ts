import { describe, expect, it } from "vitest";
import { Problem } from "@/api/problem";
import type { VerbPreview } from "@/components/action/action";
import { eachOf, looksOf, type Outcome } from "./bulk";

const refusal = (status: number, retryAfter: number | null = null) =>
  new Problem(status, "refused", "refused", "", [], null, retryAfter);
const ids = Array.from({ length: 40 }, (_, n) => `s-${n}`);

describe("the same for many supervisors", () => {
  it("does each once, 4 at a time, and goes on after a failure", async () => {
    const outcomes: Outcome[] = [];
    const done: string[] = [];
    let now = 0;
    let most = 0;

    await eachOf(
      ids,
      async (id) => {
        now += 1;
        most = Math.max(most, now);
        await Promise.resolve();
        now -= 1;
        done.push(id);
        if (id === "s-7") {
          throw refusal(403);
        }
      },
      (outcome) => outcomes.push(outcome),
      () => Promise.resolve(),
    );

    expect(done.toSorted()).toEqual(ids.toSorted());
    expect(most).toBe(4);
    expect(outcomes).toHaveLength(ids.length);
    expect(outcomes.filter(({ problem }) => problem !== null).map(({ id }) => id)).toEqual(["s-7"]);
  });

  it("rests as long as the overlord says, and then does what was refused", async () => {
    const rests: number[] = [];
    const outcomes: Outcome[] = [];
    let refusals = 2;

    await eachOf(
      ids,
      async () => {
        if (refusals > 0) {
          refusals -= 1;
          throw refusal(429, 3);
        }
      },
      (outcome) => outcomes.push(outcome),
      async (millis) => void rests.push(millis),
    );

    expect(rests).toEqual([3_000, 3_000]);
    expect(outcomes.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(outcomes.every(({ problem }) => problem === null)).toBe(true);
  });
});

describe("what the same would do to many", () => {
  it("has an answer for each, in their order, also where nothing would be done", async () => {
    const rests: number[] = [];
    let refusals = 1;
    const looks = await looksOf(
      ids,
      async (id) => {
        if (id === "s-3" && refusals > 0) {
          refusals -= 1;
          throw refusal(429, 1);
        }
        if (id === "s-7") {
          throw refusal(400);
        }
        return preview(id);
      },
      async (millis) => void rests.push(millis),
    );

    expect(looks.map(({ id }) => id)).toEqual(ids);
    expect(rests).toEqual([1_000]);
    expect(looks.filter(({ preview }) => preview === null).map(({ id }) => id)).toEqual(["s-7"]);
    expect(looks[3]?.preview?.digest).toBe("d of s-3");
  });
});

function preview(id: string): VerbPreview {
  return {
    dryRun: true,
    verb: "suspend",
    id,
    text: "It rests.",
    undo: "",
    digest: `d of ${id}`,
    warnings: [],
  };
}
