import { describe, expect, it } from "vitest";
import { dialogSearch, NO_DIALOG } from "@/pages/supervisor/search";
import { isFiltered, supervisorsSearch } from "@/pages/supervisors/search";
import { inConsole } from "./inConsole";
import { listIn, parseSearch, textIn, writeSearch } from "./search";

describe("the query part of a URL", () => {
  it("comes back as it was written", () => {
    const search = { q: "orders eu&x=1", state: ["RUNNING", "IDLE"], sort: "-lagRecords" };

    expect(parseSearch(writeSearch(search))).toEqual(search);
  });

  it("inherits nothing from it", () => {
    const search = parseSearch("?__proto__=a&constructor=b&constructor=c");

    expect(Object.getPrototypeOf(search)).toBe(Object.prototype);
    expect(listIn(search, "constructor")).toEqual(["b", "c"]);
    expect(textIn(parseSearch("?q=a"), "constructor")).toBeUndefined();
  });

  it("leaves out what is not set", () => {
    expect(writeSearch({ q: "", state: undefined, sel: null })).toBe("");
  });
});

describe("the state of the list", () => {
  it("takes what is well-formed from any URL", () => {
    const search = parseSearch("?q=a&q=b&state=RUNNING&healthy=maybe&sort=';drop&other=1&sel=");

    expect(supervisorsSearch(search)).toStrictEqual({
      q: "a",
      state: ["RUNNING"],
      table: undefined,
      topic: undefined,
      healthy: undefined,
      ended: undefined,
      sort: undefined,
      sel: undefined,
    });
  });

  it("knows whether it is filtered", () => {
    expect(isFiltered({ sel: "a", sort: "id" })).toBe(false);
    expect(isFiltered({ healthy: "no" })).toBe(true);
  });
});

describe("the dialog of a supervisor's page", () => {
  it("takes the place of any word in the URL", () => {
    expect(dialogSearch({ do: "constructor", to: "x" })).toStrictEqual(NO_DIALOG);
    expect(dialogSearch({ do: "reset", offset: "x" })).toHaveProperty("offset", undefined);
    // What is wrong with it says the dialog: it is not lost without a word.
    expect(dialogSearch({ do: "reset", offset: "3=-5" })).toHaveProperty("offset", ["3=-5"]);
  });
});

describe("the address after a login", () => {
  it.each([
    ["/supervisors?q=a", "/ui/supervisors?q=a"],
    [undefined, "/ui/"],
    ["https://elsewhere.example/", "/ui/"],
    ["//elsewhere.example/", "/ui/"],
    ["/\\elsewhere.example/", "/ui/"],
    ["javascript:alert(1)", "/ui/"],
  ])("of %s stays in the console", (next, address) => {
    expect(inConsole(next)).toBe(address);
  });
});
