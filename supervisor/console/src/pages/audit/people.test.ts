import { expect, it } from "vitest";
import { isByPerson } from "./people";

it("tells what people changed from what Tidegate did by itself", () => {
  const by = (actor: string, reason: string | null = null) => isByPerson({ actor, reason });

  expect(by("alice", "step back from what failed")).toBe(true);
  expect(by("anonymous")).toBe(true);
  const parts = ["overlord", "task index_kafka_clicks_1", "worker worker-1", "compaction rule"];
  expect(parts.map((actor) => by(actor))).toEqual([false, false, false, false]);
  expect(by("anonymous", "step pack of clicks-proof:publish-7, effect 1/2")).toBe(false);
});
