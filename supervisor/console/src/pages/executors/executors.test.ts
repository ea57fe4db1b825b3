import { describe, expect, it } from "vitest";
import type { Executor, Partition, Standing } from "./data";
import { callWords, numbersOf, sentenceOf, troubleOf } from "./words";

function executor(name: string, part: Partial<Executor> = {}): Executor {
  const heardAt = "2026-01-05T12:00:00Z";
  return {
    name,
    url: "",
    state: "RUNNING",
    reason: "",
    heardAt,
    partitions: [],
    makes: [],
    ...part,
  };
}

function partition(number: number, owner: string | null, lag = 0): Partition {
  return { partition: number, owner, position: 7, lag, projectionLag: 0 };
}

function standing(part: Partial<Standing>): Standing {
  return { engine: "kafka", executors: [], partitions: [], deadLetters: 0, ...part };
}

describe("executors in a sentence", () => {
  it("are nothing to own where flows run in the database", () => {
    expect(sentenceOf(standing({ engine: "sql" }))).toContain("nothing to own");
  });

  it("are counted with what nobody works and what waits", () => {
    const two = [executor("a"), executor("b", { state: "SILENT" })];
    const partitions = [partition(0, "a", 1_203), partition(1, null, 1)];

    expect(sentenceOf(standing({ executors: two, partitions }))).toBe(
      "Flows run on Kafka · 1 executor · 1 silent · nobody works 1 of 2 partitions · 1,204 inputs wait",
    );
    expect(sentenceOf(standing({ partitions }))).toContain("nobody works executions");
    expect(
      sentenceOf(standing({ executors: two.slice(0, 1), partitions: [partition(0, "a")] })),
    ).toBe("Flows run on Kafka · 1 executor · 1 partition · no input waits");
  });

  it("have partitions as runs, and calls in words", () => {
    expect(numbersOf([3, 0, 1, 2, 7, 6])).toBe("0-3, 6, 7");
    expect(numbersOf([])).toBe("");
    const call = { execution: "day:mon", run: "r", attempt: 2, look: 0 };
    expect(callWords(call)).toBe("attempt 2");
    expect(callWords({ ...call, look: 1_204 })).toBe("look 1,204 at its condition");
  });

  it("say why a partition does not go on", () => {
    const waiting = executor("a", { state: "WAITING", reason: "no broker answers" });

    expect(troubleOf(partition(0, "a"), [waiting])).toBe("no broker answers");
    expect(troubleOf(partition(0, "b"), [waiting])).toBe("");
  });
});
