import { expect, test } from "vitest";
import { polygonOf } from "./spark";

const BOX = { begin: 0, end: 100, stepMs: 10 };

test("an area is as high as its highest sample", () => {
  const samples = [
    { at: 0, value: 0 },
    { at: 10, value: 5 },
    { at: 20, value: 10 },
  ];

  expect(polygonOf(samples, BOX)).toBe("polygon(0% 100%, 0% 100%, 10% 50%, 20% 0%, 20% 100%)");
});

test("an area has a hole where nothing is known", () => {
  const samples = [
    { at: 0, value: 4 },
    { at: 10, value: null },
    { at: 20, value: 4 },
    { at: 90, value: 4 },
  ];

  expect(polygonOf(samples, BOX)).toBe(
    "polygon(0% 100%, 0% 0%, 0% 100%, 10% 100%, 20% 100%, 20% 0%, 20% 100%, 90% 100%, 90% 0%, 90% 100%)",
  );
});

test("what is all 0, not known, or too old has no area", () => {
  expect(polygonOf([{ at: 5, value: 0 }], BOX)).toBeNull();
  expect(polygonOf([{ at: 5, value: null }], BOX)).toBeNull();
  expect(polygonOf([{ at: -5, value: 3 }], BOX)).toBeNull();
  expect(polygonOf([], BOX)).toBeNull();
});
