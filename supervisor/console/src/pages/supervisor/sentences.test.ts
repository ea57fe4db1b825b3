import { expect, test } from "vitest";
import type { Explanation } from "./data";
import { sentencesOf } from "./sentences";

type Sentence = Explanation["sentences"][number];

function sentence(about: Sentence["about"], text: string): Sentence {
  return { about, text, links: [], since: null };
}

const WORDS = "no answer from h:9092 (Connection refused (after 0ms in state CONNECT)): check it";
const AGAIN =
  "no answer from h:9092 (Connection refused (after 3ms in state CONNECT, 1 identical error(s) suppressed)): check it";
const STATE = sentence("state", `orders is RUNNING (CONNECTING_TO_STREAM): ${WORDS}.`);
const CHANGES = sentence("changes", "What would change it: Kafka answers.");

test("an error that the reason of the state says is not said again", () => {
  const failures = [
    sentence("failure", `StreamUnavailable at 2026-01-05T12:00:09.000Z: ${AGAIN}`),
    sentence("failure", `StreamUnavailable at 2026-01-05T12:00:00.000Z: ${WORDS}`),
  ];

  expect(sentencesOf([STATE, sentence("next", "…"), CHANGES, ...failures])).toEqual([
    STATE,
    CHANGES,
  ]);
});

test("another error is said, but once", () => {
  const newest = sentence("failure", "TaskFailed at 2026-01-05T12:00:09Z: OUT_OF_MEMORY: 2 GB");
  const before = sentence("failure", "TaskFailed at 2026-01-05T12:00:00Z: OUT_OF_MEMORY: 2 GB");

  expect(sentencesOf([STATE, newest, before])).toEqual([STATE, newest]);
  expect(sentencesOf([])).toEqual([]);
});

test("errors from before a calm state are left to the recent errors; a warning is not", () => {
  const running = sentence("state", "orders is RUNNING.");
  const before = sentence("failure", "TaskFailed at 2026-01-05T12:00:09Z: worker w1 is lost");
  const warning = sentence("failure", "worker w2 is silent: 2 tasks.");

  expect(sentencesOf([running, before, warning], true)).toEqual([running, warning]);
  expect(sentencesOf([running, before, warning])).toEqual([running, before, warning]);
});
