import { expect, test } from "vitest";
import { applied } from "../document/edit";
import { fixOf, troublesOf } from "./problems";

const TEXT = '{"spec": {"ioConfig": {"taskCoun": 4}, "tuningConfig": {"badRecords": "quarantin"}}}';

test("an unknown name is marked, and becomes the nearest one by its fix", () => {
  const error = {
    pointer: "/spec/ioConfig/taskCoun",
    message: "unknown field taskCoun",
    hint: "did you mean taskCount?",
  };
  const [trouble] = troublesOf(TEXT, [error]);

  expect(trouble && TEXT.slice(trouble.range.from, trouble.range.to)).toBe('"taskCoun"');
  expect(trouble?.fix?.label).toBe("Use taskCount");
  expect(applied(TEXT, trouble?.fix?.edit ?? null)).toBe(TEXT.replace("taskCoun", "taskCount"));
});

test("an unknown word becomes the nearest one; nothing else has a fix", () => {
  const pointer = "/spec/tuningConfig/badRecords";
  const error = { pointer, message: "quarantin is no way", hint: "did you mean quarantine?" };

  expect(applied(TEXT, fixOf(TEXT, error)?.edit ?? null)).toContain('"badRecords": "quarantine"');
  expect(fixOf(TEXT, { ...error, hint: "give a word" })).toBeNull();
  expect(fixOf(TEXT, { ...error, pointer: "/spec/ioConfig/taskCoun" })).toBeNull();
});
