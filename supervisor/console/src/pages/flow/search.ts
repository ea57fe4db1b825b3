import { type RawSearch, textIn } from "@/app/search";

/** The state of one flow's page, in its URL. */
export type FlowSearch = {
  /** Whether the dialog that starts it is open. */
  start?: boolean | undefined;
  /** An execution whose inputs the dialog begins with. */
  from?: string | undefined;
  /** The version that is shown; the newest one if none is named. */
  version?: number | undefined;
  sel?: string | undefined;
};

const ID = /^[A-Za-z0-9][A-Za-z0-9._:~-]{0,299}$/;
const TEXT_MAX = 1_000;

export function flowSearch(search: RawSearch): FlowSearch {
  const version = textIn(search, "version") ?? "";
  const from = textIn(search, "from") ?? "";
  return {
    start: textIn(search, "start") === "true" ? true : undefined,
    from: ID.test(from) ? from : undefined,
    version: /^[1-9]\d{0,8}$/.test(version) ? Number(version) : undefined,
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}
