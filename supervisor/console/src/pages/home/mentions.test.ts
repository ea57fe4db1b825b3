import { expect, test } from "vitest";
import { mentions } from "./mentions";

function names(sentence: string, ids: string[]): string[] {
  return mentions(sentence, ids)
    .filter(({ isName }) => isName)
    .map(({ text }) => text);
}

test("the supervisors that a sentence names at its end are cut out, and nothing is lost", () => {
  const sentence = "worker w1 is silent: nobody knows; this concerns clicks, clicks-eu and orders";
  const ids = ["clicks", "clicks-eu", "orders"];

  expect(names(sentence, ids)).toEqual(ids);
  expect(
    mentions(sentence, ids)
      .map(({ text }) => text)
      .join(""),
  ).toBe(sentence);
});

test("a name is one only as a whole word, the last time that it is there", () => {
  const sentence = "worker is lost; this concerns is";

  expect(mentions(sentence, ["is"])).toEqual([
    { at: 0, text: "worker is lost; this concerns ", isName: false },
    { at: 30, text: "is", isName: true },
  ]);
  expect(names("nothing is read of click-stream", ["click"])).toEqual([]);
  expect(names("nothing is read of a, b and 3 more", ["a", "b", "c", "d", "e"])).toEqual([
    "a",
    "b",
  ]);
});
