import { expect, test } from "vitest";
import { waitWords } from "./waits";

test.each([
  [0, null, "nothing waits"],
  [1, null, "1 event waits, not due yet"],
  [124, null, "124 events wait, none is due yet"],
  [1, 500, "1 event waits, the first has been due for 500 ms"],
  [3, 231_000, "3 events wait, the first has been due for 3 m 51 s"],
])("%i events, due for %s ms", (events, due, words) => {
  expect(waitWords(events, due)).toBe(words);
});

test("the events of dead queues are not among those that wait", () => {
  expect(waitWords(0, null, 1)).toBe("nothing else waits");
  expect(waitWords(2, null, 1)).toBe("2 events wait, none is due yet");
});
