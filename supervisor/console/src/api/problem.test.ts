import { describe, expect, it } from "vitest";
import { noAnswer, problemOf } from "./problem";

const body = JSON.stringify({
  type: "/problems/invalid-spec",
  title: "The spec is not acceptable",
  status: 400,
  detail: "/ioConfig/taskCoun: is unknown",
  errors: [
    { pointer: "/ioConfig/taskCoun", message: "is unknown", hint: "taskCount" },
    { pointer: 7 },
    null,
  ],
});

describe("a problem", () => {
  it("has what the overlord says", () => {
    const problem = problemOf(400, body, "r-1", null);

    expect(problem).toMatchObject({
      status: 400,
      kind: "invalid-spec",
      title: "The spec is not acceptable",
      requestId: "r-1",
      passes: false,
      errors: [{ pointer: "/ioConfig/taskCoun", message: "is unknown", hint: "taskCount" }],
    });
  });

  it.each([["<html>Bad gateway</html>"], [""], ["null"], ["[1]"], ["{"]])(
    "can be any answer: %j",
    (text) => {
      const problem = problemOf(502, text, null, "2");

      expect(problem).toMatchObject({ status: 502, passes: true, retryAfter: 2, errors: [] });
      expect(problem.title).toBe("The answer is 502");
    },
  );

  it("keeps the facts of its kind without loss", () => {
    const outdated = '{"type":"/problems/preview-outdated","to":{"0":9223372036854775807}}';

    expect(problemOf(409, outdated, "r", null).facts.to).toEqual({ 0: 9223372036854775807n });
  });

  it("can be the lack of an answer, which passes", () => {
    expect(noAnswer(new TypeError("Failed to fetch"))).toMatchObject({ status: 0, passes: true });
  });
});
