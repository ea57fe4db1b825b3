import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");
const [light = "", dark = ""] = css.split('[data-mantine-color-scheme="dark"]');
const GROUNDS = ["ground", "surface", "raised", "sunken", "hover", "selected"];
const INKS = ["ink", "ink-dim", "accent", "broken", "risk", "note", "good"];
const OWN = ["broken", "risk", "note", "accent"].map((ink) => [ink, `${ink}-ground`] as const);
/** WCAG 2.2, 1.4.3: the least contrast of a text. */
const LEAST = 4.5;

describe.each([
  ["light", tokensOf(light)],
  ["dark", { ...tokensOf(light), ...tokensOf(dark) }],
])("the %s colours", (_, tokens) => {
  const pairs = [...GROUNDS.flatMap((ground) => INKS.map((ink) => [ink, ground] as const)), ...OWN];

  it.each(pairs)("show %s on %s", (ink, ground) => {
    expect(contrast(tokens[ink] ?? "", tokens[ground] ?? "")).toBeGreaterThanOrEqual(LEAST);
  });
});

function tokensOf(text: string): Record<string, string> {
  const found = text.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g);
  return Object.fromEntries([...found].map(([, name, colour]) => [name, colour]));
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
