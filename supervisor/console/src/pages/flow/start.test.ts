import { describe, expect, it } from "vitest";
import { parseSearch } from "@/app/search";
import { descriptionOf, fitting, sentenceOf, stepsOf } from "../flows/flows";
import { hintOf, inputsOf, textsOf, valuesOf, wrongIn } from "./inputs";
import { flowSearch } from "./search";
import { commandOf } from "./words";

const DOCUMENT = {
  flow: "day",
  description: "Packs a day",
  inputs: [
    { name: "day", type: "date", description: "Which one" },
    { name: "most", type: "integer", default: 9_007_199_254_740_993n },
    { name: "tell", type: "boolean", default: false },
    { name: "tables", type: "list", required: false },
    { name: "note" },
  ],
  steps: [{ name: "pack", type: "noop" }],
};
const INPUTS = inputsOf(DOCUMENT);

describe("the form of a flow's inputs", () => {
  it("begins with the defaults, or with the inputs of an execution", () => {
    expect(textsOf(INPUTS, {})).toEqual({
      day: "",
      most: "9007199254740993",
      tell: "false",
      tables: "",
      note: "",
    });
    const given = { day: "2026-11-25", tables: ["a"], most: 3, constructor: 1 };
    expect(textsOf(INPUTS, given)).toMatchObject({
      day: "2026-11-25",
      tables: '["a"]',
      most: "3",
      tell: "false",
    });
  });

  it("sends each value in its type, and leaves out what is empty", () => {
    const texts = { day: " 2026-11-25 ", most: "9007199254740993", tell: "true", tables: "[1, 2]" };

    expect(valuesOf(INPUTS, { ...texts, note: " " })).toEqual({
      day: "2026-11-25",
      most: 9_007_199_254_740_993n,
      tell: true,
      tables: [1, 2],
    });
  });

  it("sends what does not fit as text: the overlord says what is wrong with it", () => {
    const texts = { day: "soon", most: "1e3", tell: "maybe", tables: "[1", note: "12" };

    expect(valuesOf(INPUTS, texts)).toEqual(texts);
  });

  it("shows what the overlord says at the field that it is about", () => {
    const errors = [
      { pointer: "/inputs/day", message: "'soon' is no date", hint: "write 2026-11-25" },
      { pointer: "/inputs/days", message: "is no input", hint: "" },
    ];

    expect(wrongIn("day", errors)).toBe("'soon' is no date: write 2026-11-25");
    expect(wrongIn("most", errors)).toBeUndefined();
  });

  it("says what each field takes", () => {
    expect(INPUTS.map(hintOf)).toEqual([
      "Which one · a date, such as 2026-11-25 · required",
      "a whole number · has a default",
      "boolean · has a default",
      "a list as JSON, such as [1, 2] · may be empty",
      "text · required",
    ]);
  });

  it("has the same start for a shell", () => {
    expect(commandOf("day", INPUTS, { day: "2026-11-25", note: "it's" }, " k1 ")).toBe(
      "tidegate execution run day -i 'day=2026-11-25' -i 'note=it'\\''s' --key k1",
    );
  });

  it.each([null, [], { inputs: "x" }, { inputs: [null, 1] }])("bears the document %j", (value) => {
    expect(() => inputsOf(value).map(hintOf)).not.toThrow();
  });
});

describe("the state of a flow's page", () => {
  it("takes what is well-formed from any URL", () => {
    const raw = parseSearch("?start=true&from=day:1&version=0&sel=2&x=1");

    expect(flowSearch(raw)).toStrictEqual({
      start: true,
      from: "day:1",
      version: undefined,
      sel: "2",
    });
    expect(flowSearch({ start: "yes", from: "<b>", version: "12" })).toMatchObject({
      start: undefined,
      from: undefined,
      version: 12,
    });
  });
});

describe("the list of flows", () => {
  const flow = { flow: "orders-day", version: 2, document: DOCUMENT } as never;
  const bare = { flow: "bare", version: 1, document: null } as never;

  it("finds a flow by its name and by its description", () => {
    expect(fitting([flow, bare], "PACKS")).toEqual([flow]);
    expect(fitting([flow, bare], "bar")).toEqual([bare]);
    expect(fitting([flow, bare], undefined)).toHaveLength(2);
  });

  it("counts steps", () => {
    expect([stepsOf(flow), stepsOf(bare)]).toEqual([1, 0]);
    expect([descriptionOf(flow), descriptionOf(bare)]).toEqual(["Packs a day", ""]);
    expect(sentenceOf({ flows: [flow], hasMore: false })).toBe("1 flow: bounded work in steps");
  });
});
