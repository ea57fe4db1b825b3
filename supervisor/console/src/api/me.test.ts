import { describe, expect, it } from "vitest";
import { type Me, may, missing } from "./me";

const operator: Me = {
  name: "olga",
  kind: "token",
  asked: true,
  session: true,
  grants: [],
  permissions: { read: ["*"], suspend: ["orders*"] },
  until: null,
};

describe("what a caller may do", () => {
  it("holds for the tables of its patterns", () => {
    expect(may(operator, "suspend", "orders_eu")).toBe(true);
    expect(may(operator, "suspend", "clicks")).toBe(false);
    expect(may(operator, "reset", "orders")).toBe(false);
  });

  it("is for the whole cluster by the pattern of everything alone", () => {
    expect(may(operator, "read", null)).toBe(true);
    expect(may(operator, "suspend", null)).toBe(false);
  });

  it("is everything where nobody is asked", () => {
    expect(may({ ...operator, asked: false, permissions: {} }, "reset", null)).toBe(true);
  });

  it("says what is missing", () => {
    expect(missing(operator, "reset", "orders")).toContain("reset on orders");
    expect(missing(operator, "suspend", "orders")).toBeNull();
    expect(missing(undefined, "suspend", "orders")).not.toBeNull();
  });
});
