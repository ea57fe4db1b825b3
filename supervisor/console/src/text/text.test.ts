import { describe, expect, it } from "vitest";
import { counted, exact, short } from "./numbers";
import { matches } from "./patterns";
import { age, ago, clock, moment, span, stamp } from "./times";
import { visible } from "./visible";

describe("numbers", () => {
  it.each([
    [0, "0"],
    [1_204, "1,204"],
    [9_999, "9,999"],
    [12_345, "12 k"],
    [1_250_000, "1.2 M"],
    [999_999, "999 k"],
    [-31_000, "−31 k"],
    [171.46, "171"],
    [3.27, "3.3"],
    [9_223_372_036_854_775_807n, "9223372 T"],
  ])("are short: %s", (value, text) => {
    expect(short(value)).toBe(text);
  });

  it("are exact to the last digit", () => {
    expect(exact(9_223_372_036_854_775_807n)).toBe("9,223,372,036,854,775,807");
  });

  it("have their noun", () => {
    expect([counted(1, "worker"), counted(0, "worker")]).toEqual(["1 worker", "0 workers"]);
  });
});

describe("times", () => {
  it.each([
    [0, "0 ms"],
    [410, "410 ms"],
    [1_999, "1.9 s"],
    [41_000, "41 s"],
    [842_000, "14 m 02 s"],
    [11_400_000, "3 h 10 m"],
    [273_600_000, "3 d 4 h"],
    [-5, "0 ms"],
  ])("are spans: %d ms", (millis, text) => {
    expect(span(millis)).toBe(text);
  });

  it.each([
    [-4_000, "now"],
    [1_999, "now"],
    [41_500, "41 s"],
    [3_599_999, "59 m"],
    [172_799_999, "47 h"],
    [259_200_000, "3 d"],
  ])("are ages: %d ms", (millis, text) => {
    expect(age(millis)).toBe(text);
    expect(ago(millis)).toBe(text === "now" ? "just now" : `${text} ago`);
  });

  it("are in the zone that was chosen", () => {
    const at = new Date("2026-11-28T00:02:03Z");

    expect(clock(at, "utc")).toBe("00:02:03");
    expect(stamp(at, "utc")).toBe("28 Nov 00:02:03");
    expect(moment(at, "utc")).toBe("28 Nov 2026, 00:02:03 UTC");
  });
});

describe("patterns", () => {
  it.each([
    ["*", "", true],
    ["orders", "orders", true],
    ["orders", "orders_eu", false],
    ["orders*", "orders_eu", true],
    ["*_eu", "orders_eu", true],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["*", "a.b", true],
    [".", "a", false],
  ])("%s against %s", (pattern, name, fits) => {
    expect(matches(pattern, name)).toBe(fits);
  });
});

describe("text of others", () => {
  it("shows the signs that cannot be seen", () => {
    expect(visible("a\u202Eb\u200Bc\u0000d")).toBe("a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d");
  });

  it("leaves all other text as it is", () => {
    const text = "Grüße, 東京 <script>alert(1)</script>\n\tλ";

    expect(visible(text)).toBe(text);
  });
});
