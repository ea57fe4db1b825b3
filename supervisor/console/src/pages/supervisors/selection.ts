import type { Outcome } from "./bulk";
import type { BulkVerb } from "./bulkVerbs";
import type { Listed } from "./rows";
import { isFiltered, type SupervisorsSearch } from "./search";

/**
 * The selected ids without those that are known to be gone: the list shows all there are, and not
 * them.  Where filters or further pages hide some, a selected one may be among these, and stays.
 */
export function stillThere(
  ids: ReadonlySet<string>,
  listed: Listed | undefined,
  search: SupervisorsSearch,
): ReadonlySet<string> {
  if (listed === undefined || isFiltered(search) || listed.rows.length < listed.matching) {
    return ids;
  }
  const there = new Set(listed.rows.map(({ id }) => id));
  const left = [...ids].filter((id) => there.has(id));
  return left.length === ids.size ? ids : new Set(left);
}

/** The selected ids without those that a verb for many has ended, or has not found any more. */
export function withoutEnded(
  ids: ReadonlySet<string>,
  verb: BulkVerb,
  outcomes: Iterable<Outcome>,
): ReadonlySet<string> {
  const left = new Set(ids);
  for (const { id, problem } of outcomes) {
    if (problem === null ? verb === "terminate" : problem.status === 404) {
      left.delete(id);
    }
  }
  return left.size === ids.size ? ids : left;
}
