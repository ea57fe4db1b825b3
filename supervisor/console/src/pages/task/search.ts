import { type RawSearch, textIn } from "@/app/search";
import { LEVELS, type Level } from "./log/view";

/** The state of a log's view, in its URL; the line is behind the `#`. */
export type LogSearch = {
  find?: string | undefined;
  level?: Exclude<Level, "all"> | undefined;
  wrap?: "yes" | undefined;
};

const TEXT_MAX = 200;

export function logSearch(search: RawSearch): LogSearch {
  const level = LEVELS.find((word) => word === textIn(search, "level"));
  return {
    find: textIn(search, "find")?.slice(0, TEXT_MAX),
    level: level === "all" ? undefined : level,
    wrap: textIn(search, "wrap") === "yes" ? "yes" : undefined,
  };
}
