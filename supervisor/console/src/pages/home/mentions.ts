/** A piece of a sentence, which begins at `at`: plain words, or the name of what it mentions. */
export type Piece = { at: number; text: string; isName: boolean };

/**
 * Cuts a sentence at the names that it mentions in this order, searched from its end: the items of
 * the overlord name whom they concern last.  A name that it does not mention is passed over.
 */
export function mentions(sentence: string, names: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  let rest = sentence;
  for (const name of [...names].reverse()) {
    const at = wholeAt(rest, name);
    if (at >= 0) {
      pieces.unshift(
        { at, text: name, isName: true },
        { at: at + name.length, text: rest.slice(at + name.length), isName: false },
      );
      rest = rest.slice(0, at);
    }
  }
  return [{ at: 0, text: rest, isName: false }, ...pieces].filter(({ text }) => text !== "");
}

/** Where a name is last, as a whole word; -1: nowhere. */
function wholeAt(text: string, name: string): number {
  if (name === "") {
    return -1;
  }
  let at = text.lastIndexOf(name);
  while (at >= 0) {
    const isWhole =
      /^$|[\s(]/.test(text.charAt(at - 1)) && /^$|[\s,;:.)]/.test(text.charAt(at + name.length));
    if (isWhole) {
      return at;
    }
    at = at === 0 ? -1 : text.lastIndexOf(name, at - 1);
  }
  return -1;
}
