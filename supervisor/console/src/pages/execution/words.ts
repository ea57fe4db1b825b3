import { span } from "@/text/times";
import type { BarKind, RunBar } from "./bars";
import type { Execution, TaskRun } from "./data";

export const BAR_WORDS: Record<BarKind, string> = {
  queue: "for a runner",
  run: "runs",
  wait: "waits",
  retry: "until the next try",
  hold: "steps inside it",
};

/** A bar in words: "attempt 2 runs, 4.1 s". */
export function barWords({ kind, from, to, attempt }: RunBar): string {
  const who = attempt === null ? "" : `attempt ${attempt} `;
  const verb = kind === "queue" ? "waits for a runner" : BAR_WORDS[kind];
  return `${who}${verb}, ${span(to - from)}`;
}

/** Who or what has started an execution, in words. */
export function triggerWords({ trigger, parent }: Execution): string {
  if (parent !== null) {
    return "by a step of another execution";
  }
  const { type, by } = trigger;
  if (type === "request" && typeof by === "string") {
    return `by ${by}`;
  }
  return typeof type === "string" ? `by its trigger ${type}` : "";
}

/** What comes before the words of a wait: an `approve` step asks, all others wait for something. */
export function waitVerb(run: TaskRun | null): string {
  return run?.waitsFor?.kind === "answer" ? "asks:" : "waits for";
}
