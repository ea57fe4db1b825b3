import { type RawSearch, textIn } from "@/app/search";

/** The state of the audit log, in its URL. */
export type AuditSearch = {
  supervisor?: string | undefined;
  action?: string | undefined;
  actor?: string | undefined;
  /** Leaves out what parts of Tidegate did by themselves. */
  by?: "people" | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

export const NO_FILTER = {
  supervisor: undefined,
  action: undefined,
  actor: undefined,
  by: undefined,
};
const TEXT_MAX = 1_000;

export function auditSearch(search: RawSearch): AuditSearch {
  const textOf = (name: keyof AuditSearch) => textIn(search, name)?.slice(0, TEXT_MAX);
  return {
    supervisor: textOf("supervisor"),
    action: textOf("action"),
    actor: textOf("actor"),
    by: search.by === "people" ? "people" : undefined,
    sel: textOf("sel"),
  };
}

/** Whether a filter is set. */
export function isFiltered({ supervisor, action, actor, by }: AuditSearch): boolean {
  return [supervisor, action, actor, by].some((each) => each !== undefined);
}
