import { describe, expect, it } from "vitest";
import { readJson, writeJson } from "./json";

describe("JSON without loss", () => {
  it.each(["9007199254740993", "9223372036854775807", "-9223372036854775808"])(
    "keeps each digit of %s, read and written",
    (digits) => {
      const value = readJson(`{"offset":${digits}}`);

      expect(value).toEqual({ offset: BigInt(digits) });
      expect(writeJson(value)).toBe(`{"offset":${digits}}`);
    },
  );

  it("gives plain numbers where they are exact", () => {
    expect(readJson("[1, -2, 9007199254740991, 1.5, 1e3]")).toEqual([
      1, -2, 9007199254740991, 1.5, 1000,
    ]);
  });

  it("does not lend its object's prototype to data", () => {
    const value = readJson('{"__proto__": {"admin": true}}') as Record<string, unknown>;

    expect(value.admin).toBeUndefined();
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});
