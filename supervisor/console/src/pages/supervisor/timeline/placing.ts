import type { ChangeMark } from "./marks";

const WORD_PX = 7;
export const MARK_PX = 14;
/** The room that each version has for its number: as much as that of "v10–v12" needs, and a gap. */
const NUMBERS_PX = 8 * WORD_PX;

/** Marks that are drawn as one, the newest first: the place of it, and its word. */
export type PlacedMark = {
  marks: [ChangeMark, ...ChangeMark[]];
  x: number;
  word: string;
  /** Whether the word is before the mark: behind it there is no room. */
  isBefore: boolean;
};

/**
 * Places the marks of one line, the newest first.  Marks at one place become one.  A version always
 * has its number; any other word needs its room.
 */
export function placed(
  marks: readonly ChangeMark[],
  xOf: (at: number) => number,
  width: number,
): PlacedMark[] {
  const all: PlacedMark[] = [];
  let limit = width;
  for (const mark of [...marks].sort((one, other) => other.at - one.at)) {
    const x = Math.min(Math.max(xOf(mark.at), MARK_PX / 2), width - MARK_PX / 2);
    const least = MARK_PX + (mark.version === null ? 0 : NUMBERS_PX);
    const last = all.at(-1);
    if (last !== undefined && limit - x < least) {
      last.marks.push(mark);
      last.word = mark.version === null ? last.word : numbersOf(last.marks);
      continue;
    }
    const isBefore = mark.version !== null && limit - x < least;
    const fits = limit - x > MARK_PX + mark.text.length * WORD_PX;
    const word = fits ? mark.text : numbersOf([mark]);
    all.push({ marks: [mark], x, word, isBefore });
    limit = isBefore ? x - least : x;
  }
  return all;
}

/** The numbers of versions, "v3" or "v2–v5"; empty: they are none. */
function numbersOf(marks: readonly ChangeMark[]): string {
  const numbers = marks.flatMap(({ version }) => (version === null ? [] : [`v${version}`]));
  const [newest = "", oldest = newest] = [numbers[0], numbers.at(-1)];
  return newest === oldest ? newest : `${oldest}–${newest}`;
}
