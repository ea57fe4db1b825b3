import { expect, test } from "vitest";
import type { Remedy } from "@/api/overview";
import { actionOf } from "./actionOf";
import { dialogOf } from "./dialogOf";
import { placeOf } from "./placeOf";

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
  expect(dialogOf(remedy("suspend"))).toEqual({ do: "suspend" });
  expect(dialogOf(remedy("open-log", { task: "t" }))).toBeNull();
});

test("a remedy that only looks leads to the page with what it names", () => {
  expect(placeOf(remedy("open-log", { task: "t 1" }), null)).toEqual({
    to: "/tasks/$task/log",
    params: { task: "t 1" },
  });
  expect(placeOf(remedy("open-range", { range: "r-1" }), "orders")).toEqual({
    to: "/supervisors/$id/timeline",
    params: { id: "orders" },
    search: { range: "r-1", window: "24h" },
  });
  expect(placeOf(remedy("edit-spec", { pointer: "/spec" }), "orders")).toEqual({
    to: "/supervisors/$id/spec",
    params: { id: "orders" },
    search: { field: "/spec" },
  });
  const pointer = "/spec/tuningConfig/badRecords";
  expect(placeOf(remedy("edit-spec", { pointer, value: "quarantine" }), "orders")?.search).toEqual({
    field: pointer,
    value: '"quarantine"',
  });
  expect(placeOf(remedy("open-bad-records"), "orders")).toEqual({
    to: "/supervisors/$id/bad-records",
    params: { id: "orders" },
  });
  expect(placeOf(remedy("list-dead-letters", { persister: "http://p" }), null)).toEqual({
    to: "/logs/dead-letters",
  });
  expect(placeOf(remedy("edit-spec", { pointer: "/spec" }), null)).toBeNull();
  expect(placeOf(remedy("start-worker"), null)).toBeNull();
});

test("a remedy of queues and workers has the dialog of its change", () => {
  const queue = { container: "supervisor:orders", queue: "task-output" };
  expect(actionOf(remedy("repair-queue", queue), null)?.request.path).toBe(
    "/api/v1/queues/supervisor%3Aorders/task-output/repair",
  );
  expect(actionOf(remedy("replay-events", queue), null)?.verb).toBe("Replay all");
  expect(actionOf(remedy("forget-worker", { worker: "w 2" }), null)?.request.path).toBe(
    "/druid/indexer/v1/worker/w%202/forget",
  );
  expect(actionOf(remedy("create-topic", { topic: "orders" }), "orders")).toBeNull();
});
