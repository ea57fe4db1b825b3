import { describe, expect, it } from "vitest";
import { durationMs, durationWords } from "./durations";
import { bytes } from "./sizes";

describe("a duration", () => {
  it.each([
    ["P30D", 2_592_000_000, "30 days"],
    ["P2W", 1_209_600_000, "14 days"],
    ["pt90m", 5_400_000, "1 hour 30 minutes"],
    ["P1DT12H", 129_600_000, "1 day 12 hours"],
    ["PT0S", 0, "0 seconds"],
  ])("of %s is known in ms and in words", (text, millis, words) => {
    expect(durationMs(text)).toBe(millis);
    expect(durationWords(text)).toBe(words);
  });

  it.each(["", "P", "PT", "P1M", "P1Y", "30", "P-1D", "P1.5D"])("is not %s", (text) => {
    expect(durationMs(text)).toBeNull();
  });
});

describe("a number of bytes", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_234, "1.2 kB"],
    [390_600_000, "391 MB"],
    [999_999, "1 MB"],
    [2n ** 63n, "9,223 PB"],
  ])("of %s is %s", (value, text) => {
    expect(bytes(value)).toBe(text);
  });
});
