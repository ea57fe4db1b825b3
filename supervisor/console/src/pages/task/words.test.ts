import { describe, expect, it } from "vitest";
import { factsOf } from "./facts";
import { endingOf, readingOf } from "./words";

const RUNS = {
  status: "RUNNING",
  runnerStatusCode: "RUNNING",
  reason: "",
  errorMsg: null,
  duration: -1,
} as const;

describe("a task in words", () => {
  it("says how it goes, or how and why it ended", () => {
    const ended = { ...RUNS, runnerStatusCode: "NONE", duration: 61_200 };

    expect(endingOf({ ...RUNS, runnerStatusCode: "PENDING" })).toContain("not reported it yet");
    expect(endingOf({ ...ended, status: "SUCCESS", reason: "published" })).toBe(
      "It succeeded after 1 m 01 s: published.",
    );
    expect(endingOf({ ...ended, status: "FAILED", errorMsg: "no space" })).toBe(
      "It failed after 1 m 01 s: no space.",
    );
    expect(endingOf({ ...ended, status: "FAILED" })).toContain("why is not on record");
    expect(endingOf({ ...ended, status: "UNKNOWN" })).toContain("does not know");
  });

  it("says what it reads", () => {
    const facts = factsOf({
      ioConfig: {
        taskGroupId: 3,
        startSequenceNumbers: { stream: "clicks", partitionSequenceNumberMap: { "7": 0 } },
      },
    });

    expect(facts && readingOf(facts)).toBe("partition 7 of topic clicks, for group 3");
  });
});
