import { expect, test } from "vitest";
import { applied } from "../document/edit";
import type { Schema } from "../document/schema";
import { treeOf } from "../document/tree";
import { editOf, kindOf, schemaOf, stateOf } from "./values";

const SCHEMA: Schema = {
  $ref: "#/$defs/document",
  $defs: {
    document: { properties: { ioConfig: { anyOf: [{ $ref: "#/$defs/io" }, { type: "null" }] } } },
    io: {
      properties: {
        taskCount: { type: ["integer", "string", "null"], title: "Task count", default: 1 },
        stopTaskCount: { type: ["integer", "null"], default: null },
        useEarliestOffset: { type: ["boolean", "string", "null"] },
        consumerProperties: { type: ["object", "null"], "x-tidegate-effect": "restart-tasks" },
      },
    },
  },
};

const TEXT =
  '{\n  "ioConfig": {\n    "x": [1],\n    "taskCount": 9007199254740993,\n    "own": {"big": 1.10}\n  }\n}';

function state(text: string, pointer: string) {
  const root = treeOf(text);
  return root === null ? null : stateOf(text, root, pointer);
}

function about(pointer: string): Schema | null {
  const root = treeOf(TEXT);
  return root === null ? null : schemaOf(SCHEMA, root, pointer, TEXT);
}

test("the form shows each digit that the document has", () => {
  expect(state(TEXT, "/ioConfig/taskCount")).toEqual({ is: "plain", value: "9007199254740993" });
  expect(state(TEXT, "/ioConfig/replicas")).toEqual({ is: "absent", value: "" });
  expect(state(TEXT, "/ioConfig/x")).toMatchObject({ is: "nested", size: 1, isList: true });
});

test("what is filled in goes into the document, and all else stays as it is", () => {
  const pointer = "/ioConfig/taskCount";
  const count = about(pointer);
  const kind = kindOf(count);
  const edited = applied(TEXT, editOf(TEXT, pointer, kind, "9223372036854775807", count));

  expect(kind).toBe("whole");
  expect(edited).toBe(TEXT.replace("9007199254740993", "9223372036854775807"));
  expect(applied(TEXT, editOf(TEXT, pointer, kind, "four", count))).toContain(
    '"taskCount": "four"',
  );
  expect(applied(TEXT, editOf(TEXT, pointer, kind, "", count))).not.toContain("taskCount");
});

test("an empty field is its default, a flag a word of JSON", () => {
  const stop = about("/ioConfig/stopTaskCount");
  expect(applied(TEXT, editOf(TEXT, "/ioConfig/stopTaskCount", "whole", "", stop))).toContain(
    '"stopTaskCount": null',
  );
  const early = about("/ioConfig/useEarliestOffset");
  expect(kindOf(early)).toBe("flag");
  expect(
    applied(TEXT, editOf(TEXT, "/ioConfig/useEarliestOffset", "flag", "true", early)),
  ).toContain('"useEarliestOffset": true');
});

test("a member of a free object disturbs as the object does", () => {
  expect(about("/ioConfig/consumerProperties/bootstrap.servers")).toEqual({
    title: "bootstrap.servers",
    "x-tidegate-effect": "restart-tasks",
  });
});
