import { expect, test } from "vitest";
import { readVerbs, verbsFor } from "./verbs";

const read = (text: string) => readVerbs(text).map(({ verb, name }) => [verb.name, name]);

test("a verb may be typed as the button or as the command has it, with its supervisor", () => {
  expect(read("suspend orders-EU")).toEqual([["suspend", "orders-EU"]]);
  expect(read("Hand off orders")).toEqual([["handoff", "orders"]]);
  expect(read("handoff orders")).toEqual([["handoff", "orders"]]);
  expect(read("reset  orders")).toEqual([["reset", "orders"]]);
});

test("the beginning of a verb is one, and a name alone is none", () => {
  expect(read("re")).toEqual([
    ["resume", ""],
    ["reset", ""],
  ]);
  expect(read("orders")).toEqual([]);
  expect(read("s")).toEqual([]);
});

test("a suspended supervisor can be resumed, one that reads suspended", () => {
  expect(verbsFor(true).map(({ name }) => name)).toEqual(["resume", "reset", "terminate"]);
  expect(verbsFor(false).map(({ name }) => name)).toEqual([
    "handoff",
    "suspend",
    "reset",
    "terminate",
  ]);
});
