import { type RawSearch, textIn } from "@/app/search";

/** The state of the list of dead letters, in its URL. */
export type LettersSearch = {
  /** The reason holds this. */
  about?: string | undefined;
  /** Also those that were handled. */
  handled?: true | undefined;
  /** The address of the persister whose letters are listed; none: any one that answers. */
  persister?: string | undefined;
  /** The letter that is open, and the persister that has it. */
  letter?: string | undefined;
  of?: string | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

const TEXT_MAX = 500;
const PLACE = /^\d{1,18}-\d{1,18}$/;

export function lettersSearch(search: RawSearch): LettersSearch {
  const letter = textIn(search, "letter") ?? "";
  return {
    about: textIn(search, "about")?.slice(0, TEXT_MAX),
    handled: textIn(search, "handled") === "true" ? true : undefined,
    persister: textIn(search, "persister")?.slice(0, TEXT_MAX),
    letter: PLACE.test(letter) ? letter : undefined,
    of: textIn(search, "of")?.slice(0, TEXT_MAX),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

/** Whether less than all letters that wait are wanted. */
export function isNarrowed({ about, persister }: LettersSearch): boolean {
  return about !== undefined || persister !== undefined;
}
