import type { Got } from "@/api/client";
import type { IconName } from "@/components/Icon";
import type { Tone } from "@/components/Mark";
import { counted } from "@/text/numbers";
import { waitWords } from "@/text/waits";
import type { QueuesSearch } from "./search";

export type Queue = Got<"/api/v1/queues">[number];

/** Dead queues first, then those in trouble, then by their oldest event. */
export function worstFirst(queues: readonly Queue[]): Queue[] {
  return [...queues].sort(
    (one, other) =>
      rank(one) - rank(other) ||
      (other.oldestAge ?? -1) - (one.oldestAge ?? -1) ||
      other.failedEvents - one.failedEvents ||
      compare(nameOf(one), nameOf(other)),
  );
}

function rank({ state, healthy }: Queue): number {
  return state === "DEAD" ? 0 : healthy ? 2 : 1;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The name of a queue among all. */
export function nameOf({ container, name }: { container: string; name: string }): string {
  return `${container}/${name}`;
}

/** The queues that fit the filters of a URL. */
export function fitting(queues: readonly Queue[], { q, only }: QueuesSearch): Queue[] {
  const text = q?.toLowerCase() ?? "";
  return queues.filter(
    (queue) =>
      nameOf(queue).toLowerCase().includes(text) &&
      (only !== "unhealthy" || !queue.healthy) &&
      (only !== "waiting" || queue.outstandingEvents > 0) &&
      (only !== "aside" || queue.failedEvents > 0),
  );
}

/**
 * How all queues stand, in a sentence.  As on Home the events that wait are those of live queues, and
 * those of exports are counted by themselves: their table says how far behind they are.
 */
export function sentenceOf(queues: readonly Queue[], now: number): string {
  const dead = queues.filter(({ state }) => state === "DEAD").length;
  const ill = queues.filter(({ state, healthy }) => state !== "DEAD" && !healthy).length;
  const live = queues.filter(({ state }) => state !== "DEAD");
  const own = live.filter((queue) => !isOfTable(queue));
  const aside = queues.reduce((sum, { failedEvents }) => sum + failedEvents, 0);
  const ofTables = eventsIn(live) - eventsIn(own);
  return [
    ...(dead > 0 ? [`${dead} dead`] : []),
    ...(ill > 0 ? [`${ill} in trouble`] : []),
    waitWords(eventsIn(own), dueFor(own, now), dead),
    ...(ofTables > 0 ? [`${counted(ofTables, "event")} of exports`] : []),
    ...(aside > 0 ? [`${counted(aside, "event")} set aside`] : []),
    counted(queues.length, "queue"),
  ].join(" · ");
}

function eventsIn(queues: readonly Queue[]): number {
  return queues.reduce((sum, { outstandingEvents }) => sum + Math.max(outstandingEvents, 0), 0);
}

function isOfTable({ container }: Queue): boolean {
  return container.startsWith("table:");
}

/** For how many ms the first event of a queue could have been handled; null: none is due. */
function dueFor(queues: readonly Queue[], now: number): number | null {
  const due = queues.flatMap(({ oldest }) =>
    oldest === null
      ? []
      : [now - Math.max(Date.parse(oldest.dueAt), Date.parse(oldest.enqueuedAt))],
  );
  const longest = Math.max(-1, ...due);
  return longest < 0 ? null : longest;
}

/** A queue's state as icon, word and colour. */
export function markOf({ state, healthy }: Queue): { tone: Tone; icon: IconName; word: string } {
  if (state === "DEAD") {
    return { tone: "broken", icon: "broken", word: "dead" };
  }
  return healthy
    ? { tone: "good", icon: "good", word: state.toLowerCase() }
    : { tone: "risk", icon: "risk", word: "in trouble" };
}

/** The supervisor that a container is of; null: it is of a table, or of the cluster. */
export function ownerOf(container: string): string | null {
  return container.startsWith("supervisor:") ? container.slice("supervisor:".length) : null;
}

/** The tables whose permissions decide about a queue: none, where it is the cluster's. */
export function tablesOf(container: string, fed: string | null): string[] {
  const at = container.indexOf(":");
  const named = at < 0 ? [] : [container.slice(at + 1)];
  return fed === null ? named : [...new Set([fed, ...named])];
}
