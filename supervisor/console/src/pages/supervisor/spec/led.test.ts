import { expect, test } from "vitest";
import { specSearch } from "../search";
import { isInForm, isLedTo, offsetOf, proposed } from "./led";

const POINTER = "/spec/tuningConfig/resetOffsetAutomatically";
const NESTED = '{"spec": {"ioConfig": {"topic": "t"}, "tuningConfig": {"linger": "PT1S"}}}';

test("a step leads to a row of the form, or to the JSON where the form has none", () => {
  expect(isInForm(POINTER)).toBe(true);
  expect(isInForm("/spec/ioConfig/consumerProperties")).toBe(true);
  expect(isInForm("/spec/ioConfig/boundedStreamConfig")).toBe(false);
  expect(isInForm("/spec")).toBe(false);
  expect(isLedTo("/ioConfig/taskCount", "/spec/ioConfig/taskCount")).toBe(true);
  expect(isLedTo("/ioConfig/taskCount", "/spec/ioConfig/task")).toBe(false);
  expect(isLedTo("/ioConfig/taskCount", undefined)).toBe(false);
});

test("a field is shown at its place, and one that is not there at the object around it", () => {
  const at = (pointer: string) => NESTED.slice(offsetOf(NESTED, pointer));

  expect(at("/spec/tuningConfig/linger")).toMatch(/^"linger"/);
  expect(at(POINTER)).toMatch(/^"tuningConfig"/);
  expect(offsetOf("{", "/spec")).toBe(0);
});

test("a value is proposed for its field, in both forms of a spec", () => {
  expect(proposed(NESTED, POINTER, "true")).toContain(
    '"linger": "PT1S", "resetOffsetAutomatically": true',
  );
  expect(proposed('{"tuningConfig": {}}', POINTER, "true")).toContain(
    '"resetOffsetAutomatically": true',
  );
});

test("what the document has, and what is no value, is not proposed", () => {
  const there = '{"spec": {"tuningConfig": {"resetOffsetAutomatically": true}}}';

  expect(proposed(there, POINTER, "true")).toBeNull();
  expect(proposed(there, POINTER, "false")).not.toBeNull();
  expect(proposed(there, POINTER, "tru")).toBeNull();
  expect(proposed("{", POINTER, "true")).toBeNull();
});

test("an address gives a field with its value, or none", () => {
  expect(specSearch({ field: POINTER, value: "true" })).toEqual({ field: POINTER, value: "true" });
  expect(specSearch({ field: "no pointer", value: "true" })).toEqual({});
  expect(specSearch({ value: "true" })).toEqual({});
});
