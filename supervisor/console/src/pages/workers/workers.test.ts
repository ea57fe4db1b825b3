import { describe, expect, it } from "vitest";
import { sentenceOf, silentFirst, standOf, type Worker } from "./workers";

const ALIVE: Worker = {
  id: "w-1",
  host: "w-1:8091",
  liveness: "ALIVE",
  silentFor: 0.4,
  slots: { total: 4, used: 1 },
  taskCount: 1,
  registeredAt: "2026-01-05T12:00:00Z",
  incarnation: 1,
  previousEnd: "",
  version: "0.1.0",
  startedAt: null,
  stopping: false,
  disabled: false,
};

describe("workers", () => {
  it("begin with those that nobody hears", () => {
    const workers: Worker[] = [
      { ...ALIVE, id: "w-3" },
      { ...ALIVE, id: "w-2", liveness: "UNKNOWN" },
      ALIVE,
      { ...ALIVE, id: "w-9", liveness: "LOST" },
    ];

    expect(silentFirst(workers).map(({ id }) => id)).toEqual(["w-9", "w-2", "w-1", "w-3"]);
    expect(sentenceOf(silentFirst(workers))).toBe("1 lost · 1 silent · 2 alive");
  });

  it("are called lost even if they were taken out", () => {
    expect(standOf({ ...ALIVE, disabled: true }).word).toBe("taken out");
    expect(standOf({ ...ALIVE, disabled: true, liveness: "LOST" }).word).toBe("lost");
    expect(standOf({ ...ALIVE, liveness: "ASLEEP" as "ALIVE" }).word).toBe("ASLEEP");
  });

  it("are in order also by a word that each object has as a member", () => {
    const strange = { ...ALIVE, id: "w-0", liveness: "constructor" as "ALIVE" };

    const ids = silentFirst([strange, { ...ALIVE, liveness: "LOST" }]).map(({ id }) => id);

    expect(ids).toEqual(["w-1", "w-0"]);
    expect(sentenceOf([{ ...strange, liveness: "a\u202eb" as "ALIVE" }])).toBe("1 a⟨U+202E⟩b");
  });
});
