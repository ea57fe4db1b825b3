import type { Entry } from "./entries";

/** Actors that are parts of Tidegate, by their whole names. */
const PARTS: ReadonlySet<string> = new Set([
  "overlord",
  "compaction rule",
  "retention",
  "task-retention",
]);
const PROCESS = /^(task|worker) /;
/** A step of a flow acts in the name of who applied the flow, and gives itself as its reason. */
const STEP = /^step .+ of .+, effect \S+\/\d+$/;

/** Whether a person, or a client of theirs, made a change: no part of Tidegate by itself. */
export function isByPerson({ actor, reason }: Pick<Entry, "actor" | "reason">): boolean {
  return !PARTS.has(actor) && !PROCESS.test(actor) && !STEP.test(reason ?? "");
}
