import { applied, removeValue, setValue, written } from "./edit";
import { differing, isSame } from "./values";

/** Whose value a field gets. */
export type Side = "mine" | "newest";

/** A field that somebody has changed since the version that the draft began from. */
export type MergeRow = {
  pointer: string;
  base: unknown;
  mine: unknown;
  newest: unknown;
  /** Who has changed it; both: to different values, and somebody has to choose. */
  by: "me" | "others" | "same" | "both";
};

/** Compares a draft and the newest version with the version that the draft began from. */
export function threeWay(base: unknown, mine: unknown, newest: unknown): MergeRow[] {
  return differing([base, mine, newest]).map(({ pointer, values: [from, own, other] }) => ({
    pointer,
    base: from,
    mine: own,
    newest: other,
    by: changedBy(from, own, other),
  }));
}

function changedBy(base: unknown, mine: unknown, newest: unknown): MergeRow["by"] {
  if (isSame(mine, newest)) {
    return "same";
  }
  if (isSame(base, newest)) {
    return "me";
  }
  return isSame(base, mine) ? "others" : "both";
}

/** Returns the draft with what others have changed; of what both have, what was chosen. */
export function mergedText(
  text: string,
  rows: readonly MergeRow[],
  chosen: ReadonlyMap<string, Side>,
): string {
  return rows
    .filter(
      ({ by, pointer }) => by === "others" || (by === "both" && chosen.get(pointer) === "newest"),
    )
    .reduce(
      (draft, { pointer, newest }) =>
        applied(
          draft,
          newest === undefined
            ? removeValue(draft, pointer)
            : setValue(draft, pointer, written(newest)),
        ),
      text,
    );
}
