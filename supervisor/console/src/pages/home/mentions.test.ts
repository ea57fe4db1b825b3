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

test("partitions that a sentence names are cut out, each as its own", () => {
  const sentence =
    " is 1,204 records behind, most of it in partition 3 of topic eu (1,000), partition 13 (204)";

  expect(names(sentence, ["partition 3", "partition 13"])).toEqual(["partition 3", "partition 13"]);
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
