import { describe, expect, it } from "vitest";
import { known } from "./known";

describe("what is known of a word", () => {
  it("is what the table has under it, and nothing that all objects have", () => {
    const table: Record<string, string> = { equal: "good" };

    expect(known(table, "equal")).toBe("good");
    for (const word of ["behind", "constructor", "toString", "__proto__", ""]) {
      expect(known(table, word)).toBeUndefined();
    }
  });
});
