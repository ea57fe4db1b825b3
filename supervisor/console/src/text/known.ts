/**
 * What a table has under a word of others; undefined: nothing.  "constructor" is no word of it,
 * though every object has such a member.
 */
export function known<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
