import type { Problem } from "@/api/problem";

/** A preview; the act that is given its digest does what it shows, or nothing. */
export type Digested = { digest?: string | null | undefined };

/** What the person has read, and what came after it. */
export type Reading<P> = { read: P | null; newer: P | null };

export const UNREAD: Reading<never> = { read: null, newer: null };

/** Takes a new preview: one that would do something else has to be read again. */
export function receive<P extends Digested>({ read, newer }: Reading<P>, preview: P): Reading<P> {
  if (read === null || preview.digest === read.digest) {
    return { read: preview, newer: null };
  }
  return newer?.digest === preview.digest ? { read, newer } : { read, newer: preview };
}

/** The person has read the newer preview. */
export function accept<P>({ read, newer }: Reading<P>): Reading<P> {
  return { read: newer ?? read, newer: null };
}

/** The new preview in the refusal of an act whose own one is outdated; null: it is another refusal. */
export function outdatedBy<P>(problem: Problem): P | null {
  const newer = problem.facts.preview;
  return problem.kind === "preview-outdated" && typeof newer === "object" && newer !== null
    ? (newer as P)
    : null;
}

/** Whether it was done, in an act before, whose answer nobody knows any more. */
export function isDoneUnheard(problem: Problem): boolean {
  return problem.kind === "idempotency-answer-lost";
}

/** Whether nothing was done, for sure: then the same may be sent under another key. */
export function isRefusal(problem: Problem): boolean {
  return !problem.passes && !problem.kind.startsWith("idempotency-");
}
