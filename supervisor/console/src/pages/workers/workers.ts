import type { Got } from "@/api/client";
import type { IconName } from "@/components/Icon";
import type { Tone } from "@/components/Mark";
import { known } from "@/text/known";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";

export type Worker = Got<"/api/v1/workers">[number];
export type WorkerDetail = Got<"/api/v1/workers/{worker}">;

type Stand = { tone: Tone; icon: IconName; word: string };

/** How a worker is doing, in one word; a word of a newer overlord is shown as it is. */
export function standOf({ liveness, stopping, disabled }: Worker): Stand {
  if (liveness === "LOST") {
    return { tone: "broken", icon: "broken", word: "lost" };
  }
  if (liveness === "UNKNOWN") {
    return { tone: "risk", icon: "risk", word: "silent" };
  }
  if (stopping) {
    return { tone: "note", icon: "waiting", word: "stopping" };
  }
  if (disabled) {
    return { tone: "dim", icon: "paused", word: "taken out" };
  }
  return liveness === "ALIVE"
    ? { tone: "good", icon: "good", word: "alive" }
    : { tone: "note", icon: "note", word: liveness };
}

const RANKS: Record<string, number> = { LOST: 0, UNKNOWN: 1 };

/** Those that need somebody first: lost, silent, then all others by id. */
export function silentFirst(workers: readonly Worker[]): Worker[] {
  const rank = ({ liveness }: Worker) => known(RANKS, liveness) ?? 2;
  return [...workers].sort((one, other) => rank(one) - rank(other) || (one.id < other.id ? -1 : 1));
}

/** Says how many there are, and how many of them are not alive or take nothing new. */
export function sentenceOf(workers: readonly Worker[]): string {
  const words = new Map<string, number>();
  for (const each of workers) {
    const { word } = standOf(each);
    words.set(word, (words.get(word) ?? 0) + 1);
  }
  return [...words].map(([word, number]) => `${exact(number)} ${visible(word)}`).join(" · ");
}
