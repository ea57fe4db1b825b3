import { type RawSearch, textIn } from "@/app/search";
import { wordIn } from "../search";

const TEXT_MAX = 300;
const PLACE = /^(?<topic>[^:]{1,249}):(?<partition>\d{1,9})$/;
const RECORD = /^(?<topic>[^:]{1,249}):(?<partition>\d{1,9}):(?<offset>\d{1,19})$/;

/** How bytes are shown. */
export const FORMS = ["text", "hex", "base64"] as const;
export type Form = (typeof FORMS)[number];

export type BadRecordsSearch = {
  reason?: string | undefined;
  /** `topic:partition`. */
  partition?: string | undefined;
  /** Kept records, or the newest samples, also of ranges that still read. */
  view?: "samples" | undefined;
  /** The width of a bar; by default an hour. */
  by?: "day" | undefined;
  as?: Form | undefined;
  /** The record that is open in the panel: `topic:partition:offset`. */
  record?: string | undefined;
};

export function badRecordsSearch(search: RawSearch): BadRecordsSearch {
  const partition = textIn(search, "partition");
  const record = textIn(search, "record");
  return {
    reason: textIn(search, "reason")?.slice(0, TEXT_MAX),
    partition: partition !== undefined && PLACE.test(partition) ? partition : undefined,
    view: wordIn(search, "view", ["samples"]),
    by: wordIn(search, "by", ["day"]),
    as: wordIn(search, "as", FORMS),
    record: record !== undefined && RECORD.test(record) ? record : undefined,
  };
}

/** A record's place; the offset has all its digits. */
export type RecordPlace = { topic: string; partition: number; offset: string };

/** Reads `topic:partition`. */
export function partitionOf(text: string): { topic: string; partition: number } | null {
  const { topic, partition } = PLACE.exec(text)?.groups ?? {};
  return topic === undefined ? null : { topic, partition: Number(partition) };
}

/** Reads `topic:partition:offset`. */
export function recordOf(text: string): RecordPlace | null {
  const { topic, partition, offset } = RECORD.exec(text)?.groups ?? {};
  return topic === undefined || offset === undefined
    ? null
    : { topic, partition: Number(partition), offset };
}
