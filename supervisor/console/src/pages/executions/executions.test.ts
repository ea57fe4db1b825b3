import { describe, expect, it } from "vitest";
import { parseSearch } from "@/app/search";
import { hasEnded, lookOf } from "@/components/flow/looks";
import { filterOf } from "./data";
import { executionsSearch, isFiltered } from "./search";
import { labelOf, sentenceOf, toggled } from "./words";

const NOW = Date.parse("2026-11-29T12:03:59Z");

describe("the state of the list of executions", () => {
  it("takes what is well-formed from any URL", () => {
    const raw = parseSearch("?flow=a&state=FAILED&state=constructor&state=RUNNING&since=1y&x=1");

    expect(executionsSearch(raw)).toStrictEqual({
      flow: "a",
      state: ["RUNNING", "FAILED"],
      since: undefined,
      parent: undefined,
      label: undefined,
      startedBy: undefined,
      trigger: undefined,
      error: undefined,
      sel: undefined,
    });
  });

  it("takes labels, what started them and the text of an error", () => {
    const raw = parseSearch(
      "?label=a:1&label=a:1&label=b:&startedBy=schedule&trigger=nightly&error=timeout",
    );

    expect(executionsSearch(raw)).toMatchObject({
      label: ["a:1", "b:"],
      startedBy: "schedule",
      trigger: "nightly",
      error: "timeout",
    });
    expect(executionsSearch(parseSearch("?startedBy=constructor&label="))).toMatchObject({
      label: undefined,
      startedBy: undefined,
    });
  });

  it("knows whether it is filtered", () => {
    expect(isFiltered({ sel: "a" })).toBe(false);
    expect(isFiltered({ parent: "a:1" })).toBe(true);
    expect(isFiltered({ label: ["a:1"] })).toBe(true);
    expect(isFiltered({ error: "x" })).toBe(true);
    expect(isFiltered({ trigger: "x" })).toBe(true);
  });
});

describe("the query of the list", () => {
  it("looks back in steps of five minutes", () => {
    expect(filterOf({ since: "1h" }, NOW)).toEqual({ from: "2026-11-29T11:00:00.000Z" });
  });

  it("names only what is set", () => {
    expect(filterOf({}, NOW)).toEqual({});
    expect(filterOf({ flow: " day ", state: ["FAILED"], parent: "a:1" }, NOW)).toEqual({
      flow: "day",
      state: ["FAILED"],
      parent: "a:1",
    });
  });

  it("has labels, what started them and the text of an error", () => {
    const search = {
      label: ["team:a"],
      startedBy: "webhook",
      trigger: "door",
      error: "no rows",
    } as const;

    expect(filterOf({ ...search, label: [...search.label] }, NOW)).toEqual(search);
  });

  it("takes a trigger's name without the blanks around it", () => {
    expect(filterOf({ trigger: " door " }, NOW)).toEqual({ trigger: "door" });
    expect(filterOf({ trigger: " " }, NOW)).toEqual({});
  });

  it.each([
    { flow: "<b>" },
    { parent: "a/b" },
    { label: ["team"] },
    { trigger: "a-b" },
    { error: "x".repeat(201) },
  ])("fits nothing for %j", (search) => {
    expect(filterOf(search, NOW)).toBeNull();
  });
});

describe("words", () => {
  it("say how many there are", () => {
    const executions = [{ id: "a:1" }, { id: "a:2" }] as never;

    expect(sentenceOf({ executions, hasMore: false }, false)).toBe("2 executions, newest first");
    expect(sentenceOf({ executions, hasMore: true }, true)).toBe(
      "The newest 2 executions that fit the filters, newest first",
    );
  });

  it("forget a list without a choice", () => {
    expect(toggled(undefined, "a")).toEqual(["a"]);
    expect(toggled(["a", "b"], "a")).toEqual(["b"]);
    expect(toggled(["a"], "a")).toBeUndefined();
  });

  it("read a label that somebody wrote", () => {
    expect(labelOf(" team : orders ")).toBe("team:orders");
    expect(labelOf("team=orders")).toBe("team:orders");
    expect(labelOf("at=12:30")).toBe("at:12:30");
    expect(labelOf("team")).toBeNull();
    expect(labelOf(":orders")).toBeNull();
  });

  it("of an unknown state are shown as they are", () => {
    expect(lookOf("constructor")).toEqual({ tone: "note", icon: "note" });
    expect(hasEnded("KILLED")).toBe(true);
    expect(hasEnded("KILLING")).toBe(false);
  });
});
