import { expect, test } from "vitest";
import type { Remedy } from "@/api/overview";
import { dialogOf } from "./dialogOf";

function remedy(action: Remedy["action"], params: Remedy["params"] = {}): Remedy {
  return { action, params, label: "", command: null, permission: "reset" };
}

test("a remedy leads to its dialog with all its values", () => {
  const most = 9_223_372_036_854_775_807n as unknown as number;

  expect(dialogOf(remedy("reset-offsets", { offsets: { "3": 89_324, "clicks:7": most } }))).toEqual(
    {
      do: "reset",
      to: "offsets",
      offset: ["3=89324", "clicks:7=9223372036854775807"],
    },
  );
  expect(dialogOf(remedy("reset"))).toEqual({ do: "reset" });
  expect(dialogOf(remedy("open-log", { task: "t" }))).toBeNull();
});
