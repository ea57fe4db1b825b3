import type { WantedReplay } from "@/changes/badRecords";

/** The number of records that one replay sends, unless another one is chosen. */
export const MOST = 10_000;
export const MOST_MAX = 100_000;

const TOPIC = /^[A-Za-z0-9._-]{1,249}$/;
const NUMBER = /^[0-9]{1,6}$/;

export type ReplayFields = {
  topic: string;
  /** Empty: all. */
  reason: string;
  /** Empty: all. */
  partition: string;
  most: string;
  keepTime: boolean;
};

/** Says what is wrong with a topic's name; undefined: nothing. */
export function topicTrouble(topic: string): string | undefined {
  return TOPIC.test(topic.trim())
    ? undefined
    : "No such name: letters, digits, dots, dashes and underscores, 249 at most.";
}

/** The request for what is filled in; null: the number is none. */
export function wantedOf({ topic, reason, partition, most, keepTime }: ReplayFields) {
  const digits = most.replaceAll(/[ ,]/g, "");
  const number = NUMBER.test(digits) ? Number(digits) : 0;
  if (number < 1 || number > MOST_MAX) {
    return null;
  }
  return {
    topic: topic.trim(),
    ...(reason === "" ? {} : { reason }),
    ...(partition === "" ? {} : { partition: Number(partition) }),
    most: number,
    keepTime,
  } satisfies WantedReplay;
}
