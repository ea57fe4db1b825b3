import type { Explanation } from "./data";

type Sentence = Explanation["sentences"][number];

/** "StreamUnavailable at 2026-01-05T12:00:00.000Z: the words of the error". */
const FAILURE = /^\S+ at \S+: (.*)$/s;

/**
 * Returns the state with its reason, what would change it, and what went wrong besides: an error
 * that the reason says already, or that a newer failure says, is left out.
 *
 * `isCalm`: the state needs nobody.  Errors are over then, and are among the recent ones of the
 * overview; a warning holds still.
 */
export function sentencesOf([state, ...others]: readonly Sentence[], isCalm = false): Sentence[] {
  if (state === undefined) {
    return [];
  }
  const changes = others.filter(({ about }) => about === "changes");
  const failures = others.filter(
    ({ about, text }) => about === "failure" && !(isCalm && FAILURE.test(text)),
  );
  const known = [comparable(state.text)];
  const news = failures.filter(({ text }) => {
    const words = wordsOf(text);
    const isKnown = known.some((each) => each.includes(words));
    known.push(words);
    return !isKnown;
  });
  return [state, ...changes, ...news];
}

/** The words of an error, without the numbers that differ from try to try. */
function wordsOf(text: string): string {
  return comparable(FAILURE.exec(text)?.[1] ?? text).replace(/\.$/, "");
}

/** librdkafka counts how long it tried and how often, in the middle of its words. */
function comparable(text: string): string {
  return text
    .replaceAll(/ ?\(after \d+ms in state \w+(, \d+ identical error\(s\) suppressed)?\)/g, "")
    .replaceAll(/\d+/g, "#");
}
