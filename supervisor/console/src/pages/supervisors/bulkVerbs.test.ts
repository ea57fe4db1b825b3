import { describe, expect, it } from "vitest";
import { Problem } from "@/api/problem";
import type { VerbPreview } from "@/components/action/action";
import { losesMoreNow } from "./bulk";
import { BULK_VERBS, confirmOfMany, groupsIn } from "./bulkVerbs";
import { specsFile } from "./exportSpecs";

function preview(id: string, lost = 0): VerbPreview {
  const range = {
    group: 0,
    generationId: `${id}:0`,
    offsets: [{ topic: id, partition: 0, from: 10, to: 10 + lost }],
  };
  return {
    dryRun: true,
    verb: "terminate",
    id,
    text: "It ends.",
    undo: "",
    digest: `d of ${id}`,
    warnings: [],
    ...(lost === 0 ? {} : { givesUp: [range] }),
  } as VerbPreview;
}

describe("what has to be typed before many are changed", () => {
  it("is their number, where they are many", () => {
    const ten = Array.from({ length: 10 }, (_, n) => preview(`s-${n}`));

    expect(confirmOfMany("suspend", ten)).toEqual({ number: "10", what: "supervisors" });
    expect(confirmOfMany("handoff", ten.slice(1))).toBeNull();
    expect(confirmOfMany("resume", [])).toBeNull();
  });

  it("is their number, however few are terminated", () => {
    expect(confirmOfMany("terminate", [preview("a")])).toEqual({
      number: "1",
      what: "supervisors",
    });
  });

  it("is the number of records, where some are lost", () => {
    expect(confirmOfMany("terminate", [preview("a", 5), preview("b"), preview("c", 7)])).toEqual({
      number: "12",
      what: "records come into no table",
    });
  });
});

describe("another try of one that was refused", () => {
  const refused = (shown: VerbPreview) => ({
    id: "a",
    problem: new Problem(
      409,
      "preview-outdated",
      "it would do something else",
      "",
      [],
      null,
      null,
      {
        preview: shown,
      },
    ),
  });

  it("is not had where records would be lost now", () => {
    expect(losesMoreNow(refused(preview("a", 3)))).toBe(true);
    expect(losesMoreNow(refused(preview("a")))).toBe(false);
    expect(losesMoreNow({ id: "a", problem: null })).toBe(false);
  });
});

describe("verbs for many", () => {
  it("are those of one, without the reset", () => {
    expect(BULK_VERBS).toEqual(["suspend", "resume", "handoff", "terminate"]);
  });

  it("hand off each group once", () => {
    expect(groupsIn([{ group: 2 }, { group: 0 }, { group: 2 }])).toEqual([0, 2]);
  });
});

describe("a file of specs", () => {
  it("is the spec itself, where it is one", () => {
    expect(specsFile(new Map([["orders", { id: "orders" }]]))).toEqual({
      name: "orders.json",
      text: '{\n  "id": "orders"\n}\n',
    });
    expect(specsFile(new Map([["../a", {}]])).name).toBe("spec.json");
  });

  it("is a list by id, with each digit, where they are several", () => {
    const specs = new Map<string, unknown>([
      ["b", { rows: 9_007_199_254_740_993n }],
      ["a", {}],
    ]);
    const { name, text } = specsFile(specs);

    expect(name).toBe("supervisor-specs.json");
    expect(text.replaceAll(/\s/g, "")).toBe('[{},{"rows":9007199254740993}]');
  });
});
