import { listIn, type RawSearch, textIn } from "@/app/search";

const TEXT_MAX = 300;
const ACTIONS_MAX = 20;

export type WhySearch = {
  /** Only decisions of these actions. */
  action?: string[] | undefined;
  /** Only decisions about an id that has this text. */
  about?: string | undefined;
};

export function whySearch(search: RawSearch): WhySearch {
  const actions = listIn(search, "action").filter((name) => /^\w{1,60}$/.test(name));
  return {
    ...(actions.length > 0 ? { action: actions.slice(0, ACTIONS_MAX) } : {}),
    about: textIn(search, "about")?.slice(0, TEXT_MAX),
  };
}
