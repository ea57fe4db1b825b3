import { describe, expect, it } from "vitest";
import { Problem } from "@/api/problem";
import type { Listed, ListedRow } from "./rows";
import { stillThere, withoutEnded } from "./selection";

const IDS = new Set(["a", "b", "c"]);
const GONE = new Problem(404, "not-found", "There is no such supervisor", "");
const BUSY = new Problem(409, "busy", "Not now", "");

function listed(names: readonly string[], matching = names.length): Listed {
  return { rows: names.map((id) => ({ id }) as ListedRow), matching, totals: {} };
}

describe("the selection", () => {
  it("loses those that a whole list does not have", () => {
    expect([...stillThere(IDS, listed(["b", "d"]), {})]).toEqual(["b"]);
    expect(stillThere(IDS, listed([]), { sort: "id" }).size).toBe(0);
  });

  it.each([
    ["while nothing is known", undefined, {}],
    ["where a filter may hide them", listed([]), { q: "a" }],
    ["where a further page may have them", listed(["d"], 2), {}],
    ["where all are there", listed(["a", "b", "c", "d"]), {}],
  ])("stays as it is %s", (_, list, search) => {
    expect(stillThere(IDS, list, search)).toBe(IDS);
  });

  it("loses those that were terminated, and those that were not found", () => {
    const outcomes = [
      { id: "a", problem: null },
      { id: "b", problem: BUSY },
      { id: "c", problem: GONE },
    ];

    expect([...withoutEnded(IDS, "terminate", outcomes)]).toEqual(["b"]);
    expect([...withoutEnded(IDS, "suspend", outcomes)]).toEqual(["a", "b"]);
    expect(withoutEnded(IDS, "suspend", [{ id: "a", problem: null }])).toBe(IDS);
  });
});
