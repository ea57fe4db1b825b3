import { expect, test } from "vitest";
import { rangeWords } from "./rangeWords";

test("a range that no task reads is not among those that are read", () => {
  expect(rangeWords({ READING: 6, PUBLISHING: 1 }, 2)).toBe("4 reading 1 publishing");
  expect(rangeWords({ READING: 2 }, 2)).toBe("");
  expect(rangeWords({ READING: 2 }, 0)).toBe("2 reading");
});
