import type { Got } from "@/api/client";
import { known } from "@/text/known";
import type { WhySearch } from "./search";

export type Plan = Got<"/api/v1/supervisors/{supervisor_id}/plans">["plans"][number];
export type PlannedAction = Plan["actions"][number];
export type Decision = PlannedAction & { at: string; term: number };

/** Passes in a row that are shown as one line: that did nothing, or that failed alike. */
export type Fold = {
  kind: "idle" | "failed";
  key: string;
  count: number;
  from: string;
  to: string;
  error: string;
};
export type Acted = { kind: "acted"; key: string; plan: Plan; actions: PlannedAction[] };
export type Entry = Fold | Acted;

/** The actions of passes, with the words that say what they do. */
const WORDS: Readonly<Record<string, string>> = {
  CommitInitialOffsets: "begin to read topic",
  OpenGeneration: "open range",
  StartTask: "start task",
  EndTask: "end task",
  BeginHandoff: "pause range",
  ResumeReading: "resume range",
  FixEnd: "set the end of range",
  CloseEmpty: "close the empty range",
  DiscardGeneration: "discard range",
  ResetOffsets: "move the offsets of topic",
};
const OF_TASKS = new Set(["StartTask", "EndTask"]);
const OF_TOPICS = new Set(["CommitInitialOffsets", "ResetOffsets"]);

export const ACTIONS = Object.keys(WORDS);

/** Says what an action does; one of a newer overlord is shown as it is. */
export function actionWords(action: string): string {
  return known(WORDS, action) ?? action;
}

/** What an action is about: a range, a task or a topic. */
export function kindOf(action: string): "range" | "task" | "other" {
  if (OF_TASKS.has(action)) {
    return "task";
  }
  return OF_TOPICS.has(action) || known(WORDS, action) === undefined ? "other" : "range";
}

/** Returns what was decided about one thing, newest first. */
export function actionsAbout(plans: readonly Plan[], id: string): Decision[] {
  return plans.flatMap(({ at, term, actions }) =>
    actions.filter(({ about }) => about === id).map((action) => ({ ...action, at, term })),
  );
}

/** Whether a filter is set: then only passes with a fitting action are shown. */
export function isFiltered({ action, about }: WhySearch): boolean {
  return (action ?? []).length > 0 || about !== undefined;
}

/**
 * Returns the lines of passes, newest first.  Passes in a row without an action are one line, and
 * so are those that failed for the same reason.
 */
export function entriesOf(plans: readonly Plan[], search: WhySearch): Entry[] {
  const entries: Entry[] = [];
  for (const plan of plans) {
    const actions = plan.actions.filter((action) => fits(action, search));
    if (plan.error === "" && (actions.length > 0 || plan.actions.length > 0)) {
      if (actions.length > 0) {
        entries.push({ kind: "acted", key: keyOf(plan), plan, actions });
      }
      continue;
    }
    if (!isFiltered(search)) {
      fold(entries, plan);
    }
  }
  return entries;
}

function fold(entries: Entry[], plan: Plan): void {
  const last = entries.at(-1);
  const kind = plan.error === "" ? "idle" : "failed";
  if (last !== undefined && last.kind === kind && last.error === plan.error) {
    last.count += 1;
    last.from = plan.at;
    return;
  }
  entries.push({ kind, key: keyOf(plan), count: 1, from: plan.at, to: plan.at, error: plan.error });
}

function fits({ action, about }: PlannedAction, search: WhySearch): boolean {
  const actions = search.action ?? [];
  return (
    (actions.length === 0 || actions.includes(action)) &&
    (search.about === undefined || about.includes(search.about))
  );
}

function keyOf({ at, term }: Plan): string {
  return `${at} ${term}`;
}

/** Reads the id of a queue in a link, `container/name`; a container may have a slash itself. */
export function queueOf(id: string): { container: string; name: string } {
  const at = id.lastIndexOf("/");
  return { container: id.slice(0, at), name: id.slice(at + 1) };
}
