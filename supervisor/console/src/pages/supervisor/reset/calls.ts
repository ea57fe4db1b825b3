import { get, newKey, send } from "@/api/client";
import { writeJson } from "@/api/json";
import type { Given, Requested } from "@/components/action/action";
import type { Preview } from "./effect";
import type { NextOffsets, Target } from "./target";

const RESET = "/druid/indexer/v1/supervisor/{supervisor_id}/reset";
const RESET_OFFSETS = "/druid/indexer/v1/supervisor/{supervisor_id}/resetOffsets";
const BESIDE = "/druid/indexer/v1/supervisor/{supervisor_id}/resetToLatestAndBackfill";
const OFFSETS = "/api/v1/supervisors/{supervisor_id}/offsets";

/** A place with its offsets, where Kafka had to be asked for them. */
export type Settled = {
  target: Target;
  offsets: NextOffsets | null;
  /** Why some partitions stay where they are. */
  stay: string[];
};

type Request = { path: string; query: string; body: unknown };

/** Asks Kafka for the offsets of a time or a shift; any other place needs none. */
export async function settle(id: string, target: Target, signal?: AbortSignal): Promise<Settled> {
  if (target.kind === "offsets") {
    return { target, offsets: target.offsets, stay: [] };
  }
  if (target.kind !== "find" && target.kind !== "shift") {
    return { target, offsets: null, stay: [] };
  }
  const query = target.kind === "find" ? { at: target.at } : { shift: exactShift(target.by) };
  const answer = await get(OFFSETS, { path: { supervisor_id: id }, query }, signal);
  const offsets: Record<string, number> = {};
  const stay: string[] = [];
  for (const { name, offset, why } of answer.partitions) {
    if (offset === null) {
      stay.push(`${name}: ${why ?? "no offset is known"}`);
    } else {
      offsets[name] = offset;
    }
  }
  return { target, offsets, stay };
}

/** The client writes a bigint by its digits; the types of the API know numbers alone. */
function exactShift(by: bigint): number {
  return by as unknown as number;
}

/** Asks what a reset would do; nothing is changed. */
export function preview(id: string, stream: string, settled: Settled): Promise<Preview> {
  return call(id, stream, settled, newKey(), { dryRun: true });
}

/** Resets, if it still does what a preview has shown. */
export function act(
  id: string,
  stream: string,
  settled: Settled,
  key: string,
  given: Given,
): Promise<Preview> {
  return call(id, stream, settled, key, given);
}

function call(
  id: string,
  stream: string,
  { target, offsets }: Settled,
  key: string,
  query: { dryRun: true } | Given,
): Promise<Preview> {
  const path = { supervisor_id: id };
  if (target.kind === "end") {
    return send("post", RESET, { path, query: { ...query, to: target.to }, key });
  }
  if (target.kind === "beside") {
    return send("post", BESIDE, { path, query, key });
  }
  return send("post", RESET_OFFSETS, { path, query, body: bodyOf(stream, offsets ?? {}), key });
}

function bodyOf(stream: string, offsets: NextOffsets) {
  const partitionOffsetMap = offsets as Record<string, number>;
  return {
    type: "kafka" as const,
    partitions: { type: "end" as const, stream, partitionOffsetMap },
  };
}

/** The request of an act, for curl. */
export function requestOf(id: string, stream: string, { target, offsets }: Settled): Requested {
  const { path, query, body } = partsOf(stream, target, offsets);
  const whole = `${path.replace("{supervisor_id}", encodeURIComponent(id))}${query}`;
  return { verb: "post", path: whole, ...(body === null ? {} : { body: writeJson(body) }) };
}

function partsOf(stream: string, target: Target, offsets: NextOffsets | null): Request {
  if (target.kind === "end") {
    return { path: RESET, query: `?to=${target.to}`, body: null };
  }
  return target.kind === "beside"
    ? { path: BESIDE, query: "", body: null }
    : { path: RESET_OFFSETS, query: "", body: bodyOf(stream, offsets ?? {}) };
}

/** Whether the offsets of a place move by themselves while records come in. */
export function isMoving({ kind, ...rest }: Target): boolean {
  return kind === "beside" || ("to" in rest && rest.to === "latest");
}
