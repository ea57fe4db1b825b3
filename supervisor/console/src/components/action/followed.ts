import type { Got } from "@/api/client";
import { Problem } from "@/api/problem";
import { visible } from "@/text/visible";

export type Operation = Got<"/api/v1/operations/{operation}">;

const EVERY_MS = 3_000;
const SLOWEST_MS = 60_000;
const LONGEST_MS = 6 * 3_600_000;

/** Returns the operation that an answer names; null: its change has no end of its own. */
export function operationIn(answer: unknown): string | null {
  const id = (answer as { operationId?: unknown } | null | undefined)?.operationId;
  return typeof id === "string" && id !== "" ? id : null;
}

/** Says how an operation has ended. */
export function endOf({ kind, supervisor, state, waitsFor }: Operation): string {
  const what = `${visible(supervisor)}: ${kind}`;
  switch (state) {
    case "done":
      return `${what} is done.`;
    case "superseded":
      return `${what} was superseded by a newer change.`;
    default:
      return `${what} has failed${waitsFor === "" ? "" : `: ${visible(waitsFor)}`}.`;
  }
}

/**
 * Waits until an operation ends, and returns it.  It is looked at less and less often; null: it is
 * not there any more, or has run for six hours.
 */
export async function ended(
  look: () => Promise<Operation>,
  pause: (millis: number) => Promise<unknown>,
): Promise<Operation | null> {
  let wait = EVERY_MS;
  for (let waited = 0; waited < LONGEST_MS; waited += wait) {
    await pause(wait);
    try {
      const operation = await look();
      if (operation.state !== "running") {
        return operation;
      }
    } catch (problem) {
      if (!(problem instanceof Problem) || !problem.passes) {
        return null;
      }
    }
    wait = Math.min(wait * 1.2, SLOWEST_MS);
  }
  return null;
}

/**
 * Waits until all operations have ended, and returns those that are there still.  Only the first one
 * that runs is looked at again: many together cost no more than one.
 */
export async function allEnded(
  ids: readonly string[],
  look: (id: string) => Promise<Operation>,
  pause: (millis: number) => Promise<unknown>,
): Promise<Operation[]> {
  const ends: Operation[] = [];
  let rest: (millis: number) => Promise<unknown> = pause;
  for (const id of ids) {
    const end = await ended(() => look(id), rest);
    if (end !== null) {
      ends.push(end);
    }
    rest = afterFirst(pause);
  }
  return ends;
}

/** Looks at once, and rests from then on: what began before has perhaps ended by now. */
function afterFirst(pause: (millis: number) => Promise<unknown>) {
  let isFirst = true;
  return async (millis: number) => {
    if (!isFirst) {
      await pause(millis);
    }
    isFirst = false;
  };
}

/** Says how the same has ended for many; the first that is not done has its reason. */
export function endOfMany(verb: string, ends: readonly Operation[]): string {
  const others = ends.filter(({ state }) => state !== "done");
  const [first] = others;
  const done = `${verb}: ${ends.length - others.length} of ${ends.length} supervisors are done`;
  return first === undefined ? `${done}.` : `${done}. ${endOf(first)}`;
}
