import { type RawSearch, textIn } from "@/app/search";

/** The state of the audit log, in its URL. */
export type AuditSearch = {
  supervisor?: string | undefined;
  action?: string | undefined;
  actor?: string | undefined;
  /** The row that the keys are at. */
  sel?: string | undefined;
};

export const NO_FILTER = { supervisor: undefined, action: undefined, actor: undefined };
const TEXT_MAX = 1_000;

export function auditSearch(search: RawSearch): AuditSearch {
  const textOf = (name: keyof AuditSearch) => textIn(search, name)?.slice(0, TEXT_MAX);
  return {
    supervisor: textOf("supervisor"),
    action: textOf("action"),
    actor: textOf("actor"),
    sel: textOf("sel"),
  };
}

/** Whether a filter is set. */
export function isFiltered({ supervisor, action, actor }: AuditSearch): boolean {
  return [supervisor, action, actor].some((each) => each !== undefined);
}
