import { describe, expect, it } from "vitest";
import { fireTriggerOf, pauseTriggerOf, resumeTriggerOf } from "@/changes/triggers";
import { commandWith } from "@/components/action/action";
import { ruleOf, shownOf, type Trigger, whyNoNext } from "./triggers";

const TRIGGER: Trigger = {
  name: "nightly",
  type: "schedule",
  definition: { type: "schedule", cron: "15 4 * * *", timezone: "Europe/Zurich" },
  paused: false,
  pausedBy: null,
  nextAt: null,
  lastAt: null,
  lastExecution: null,
  waiting: 0,
  fired: 0,
  passed: 0,
  problem: "",
  problemAt: null,
};

describe("a trigger", () => {
  it("says when it fires", () => {
    const published = { table: null, supervisor: "orders", mode: "each" };

    expect(ruleOf(TRIGGER)).toBe("15 4 * * * Europe/Zurich");
    expect(ruleOf({ type: "published", definition: published })).toBe(
      "at publishes of orders, each",
    );
    expect(ruleOf({ type: "webhook", definition: { auth: "hmac" } })).toBe("by a request, hmac");
    expect(ruleOf({ type: "schedule", definition: { constructor: 1 } })).toBe(" ");
  });

  it("is on, is paused, waits, or did not fire", () => {
    expect(shownOf(TRIGGER).word).toBe("on");
    expect(shownOf({ ...TRIGGER, paused: true, problem: "no" }).word).toBe("paused");
    expect(shownOf({ ...TRIGGER, waiting: 2 }).word).toBe("2 publishes wait");
    expect(shownOf({ ...TRIGGER, waiting: 1, problem: "no" }).word).toBe("did not fire");
  });

  it("says why nobody knows when it fires next", () => {
    expect(whyNoNext({ type: "schedule", paused: true })).toBe("It is paused.");
    expect(whyNoNext({ type: "published", paused: false })).toContain("published");
    expect(whyNoNext({ type: "webhook", paused: false })).toContain("request");
    expect(whyNoNext({ type: "schedule", paused: false })).toContain("not known yet");
  });

  it("is paused, resumed and fired also by the command line", () => {
    const at = { flow: "day", trigger: "nightly" };

    expect(commandWith(pauseTriggerOf(at).command, { reason: "a rebuild" })).toBe(
      "tidegate flow trigger day nightly --pause --reason 'a rebuild'",
    );
    expect(resumeTriggerOf(at).request.path).toBe("/api/v1/flows/day/triggers/nightly/resume");
    expect(commandWith(fireTriggerOf(at).command, {})).toMatch(/--now$/);
  });

  it("names what it has started, unless the answer got lost", () => {
    const { done } = fireTriggerOf({ flow: "day", trigger: "nightly" });

    expect(typeof done === "function" && done({ execution: "day:1" })).toBe("day:1 is started.");
    expect(typeof done === "function" && done(undefined)).toBe("nightly is started.");
  });
});
