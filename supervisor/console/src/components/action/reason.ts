/** The most characters of a reason. */
export const REASON_MAX = 500;

// What the overlord refuses: signs that break a line, and those that turn the direction of text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const REFUSED = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|\p{Cs}/u;

/** Says why a reason would be refused; null: it is none, or a good one. */
export function lackOfReason(text: string): string | null {
  const length = [...text.trim()].length;
  if (length > REASON_MAX) {
    return `It has ${length} characters; ${REASON_MAX} is the most.`;
  }
  return REFUSED.test(text) ? "It has a sign that cannot be seen: one line of plain text." : null;
}
