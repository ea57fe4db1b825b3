import { describe, expect, it } from "vitest";
import { endedOf } from "../data";

const LINE = {
  versionNumber: 3,
  at: "2026-11-29T12:00:00Z",
  author: "alice",
  kind: "terminated",
  reason: "moved",
  operationId: "op_2",
  changed: null,
  effect: null,
  unknown: null,
} as const;

describe("the end of a supervisor", () => {
  it("has the table of its newest version", () => {
    const stored = {
      versionNumber: 3,
      version: LINE.at,
      spec: { type: "noop", dataSources: ["orders"] },
    };

    expect(endedOf(LINE, stored)).toEqual({
      at: LINE.at,
      author: "alice",
      reason: "moved",
      version: 2,
      table: "orders",
    });
  });

  it.each([
    undefined,
    { versionNumber: 4, version: "", spec: { dataSources: ["others"] } },
    { versionNumber: 3, version: "", spec: { dataSources: "orders" } },
    { versionNumber: 3, version: "", spec: {} },
  ])("has no table where %j is its newest version", (stored) => {
    expect(endedOf(LINE, stored).table).toBeNull();
  });
});
