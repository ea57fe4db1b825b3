import { describe, expect, it } from "vitest";
import type { Overview } from "@/api/overview";
import { dropLetterOf, type Letter, numberOf, replayLetterOf } from "@/changes/letters";
import { originOf, verbsOf } from "./columns";
import { hasPersisters, rowsOf, urlsOf } from "./rows";
import { isNarrowed, lettersSearch } from "./search";

const HANDLED = {
  verb: "replay",
  outcome: "rejected",
  detail: "unknown version 9",
  by: "ada",
  reason: "",
  at: "2026-01-05T12:00:00Z",
};

function letter(offset: number, part: Partial<Letter> = {}): Letter {
  return {
    partition: 0,
    offset,
    at: null,
    reason: "unknown version 9",
    topic: "completed.default",
    topicPartition: 2,
    topicOffset: 7,
    key: null,
    bytes: 20,
    sha256: "0".repeat(64),
    body: '{"v": 9}',
    cut: false,
    handled: null,
    ...part,
  };
}

const OF = { letter: letter(17), persister: "http://p-1:8092" };

describe("the changes of a dead letter", () => {
  it("are bound to the letter that was shown and to the persister that has it", () => {
    const query = `persister=http%3A%2F%2Fp-1%3A8092&sha256=${"0".repeat(64)}`;

    expect(replayLetterOf(OF).request.path).toBe(`/api/v1/dead-letters/0/17/replay?${query}`);
    expect(dropLetterOf(OF).request).toEqual({
      verb: "delete",
      path: `/api/v1/dead-letters/0/17?${query}`,
    });
    expect(dropLetterOf({ ...OF, persister: "" }).request.path).not.toContain("persister");
    expect(dropLetterOf(OF).confirm).toBe("0-17");
    expect(replayLetterOf(OF).command).toBe("tidegate reports dead replay 0 17");
  });

  it("keep every digit of a place", () => {
    const most = 9_007_199_254_740_993n as unknown as number;

    expect(replayLetterOf({ ...OF, letter: letter(most) }).request.path).toContain(
      "/0/9007199254740993/replay",
    );
  });

  it("say what became of a replay, since one that is refused is an answer too", () => {
    const { done } = replayLetterOf(OF);
    const say = (part: Partial<typeof HANDLED> | undefined) =>
      typeof done === "function" && done(part && letter(17, { handled: { ...HANDLED, ...part } }));

    expect(say({ outcome: "stored" })).toBe("The record of the dead letter 0-17 is stored.");
    expect(say({ outcome: "conflict" })).toContain("was stored already");
    expect(say({})).toBe("The dead letter 0-17 still cannot be stored: unknown version 9.");
    expect(say({ outcome: "skipped" })).toBe("The dead letter 0-17 was replayed: skipped.");
    expect(say(undefined)).toBe("The dead letter 0-17 was replayed.");
  });
});

describe("dead letters", () => {
  it("can be replayed until they are stored, and dropped until they are handled", () => {
    const outcomes = ["rejected", "stored", "conflict"] as const;
    const of = (verb: string, outcome: string) =>
      verbsOf(letter(1, { handled: { ...HANDLED, verb, outcome } }));

    expect(verbsOf(letter(1))).toEqual({ canReplay: true, canDrop: true });
    expect(outcomes.map((outcome) => of("replay", outcome).canReplay)).toEqual([
      true,
      false,
      false,
    ]);
    expect(of("drop", "dropped")).toEqual({ canReplay: true, canDrop: false });
  });

  it("are each one row, and name the persister of their page", () => {
    const page = (offsets: number[], persister: string) => ({
      letters: offsets.map((offset) => letter(offset)),
      next: null,
      persister,
    });
    const rows = rowsOf([page([9, 8], "a"), page([8, 7], "b")]);

    expect(rows.map((row) => [row.letter.offset, row.persister])).toEqual([
      [9, "a"],
      [8, "b"],
      [7, "b"],
    ]);
    expect(numberOf(rows, true)).toBe("The newest 3 records");
    expect(originOf(letter(1))).toBe("completed.default[2]@7");
    expect(originOf(letter(1, { topic: "direct", topicPartition: -1 }))).toBe("direct");
  });

  it("are asked for unless no persister is configured", () => {
    const overview = (leader: unknown, reports: unknown) => ({ leader, reports }) as Overview;
    const reports = { persisters: [{ url: "http://p-1:8092" }] };

    expect(hasPersisters(undefined)).toBe(false);
    expect(hasPersisters(overview({}, null))).toBe(false);
    expect(hasPersisters(overview(null, null))).toBe(true);
    expect(hasPersisters(overview({}, reports))).toBe(true);
    expect(urlsOf(overview({}, reports))).toEqual(["http://p-1:8092"]);
    expect(urlsOf(overview(null, null))).toEqual([]);
  });

  it("are found by any URL", () => {
    expect(lettersSearch({ letter: "0-17", of: "x", handled: "true" })).toMatchObject({
      letter: "0-17",
      of: "x",
      handled: true,
    });
    expect(lettersSearch({ letter: "../17", handled: "1" })).toMatchObject({
      letter: undefined,
      handled: undefined,
    });
    expect(isNarrowed(lettersSearch({ handled: "true" }))).toBe(false);
    expect(isNarrowed(lettersSearch({ about: "version" }))).toBe(true);
  });
});
