import { type RawSearch, textIn } from "@/app/search";

/** The state of the list of dead inputs, in its URL. */
export type DeadInputsSearch = {
  /** Also those that were handled. */
  handled?: true | undefined;
  /** The input that is open. */
  input?: string | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

const OFFSET = /^\d{1,18}$/;

export function deadInputsSearch(search: RawSearch): DeadInputsSearch {
  return {
    handled: textIn(search, "handled") === "true" ? true : undefined,
    input: offsetIn(search, "input"),
    sel: offsetIn(search, "sel"),
  };
}

function offsetIn(search: RawSearch, name: string): string | undefined {
  const text = textIn(search, name) ?? "";
  return OFFSET.test(text) ? text : undefined;
}
