import type { Execution, TaskRun } from "./data";

/** Something that an execution waits for; `run` null: it is the execution itself that waits. */
export type Waiting = {
  kind: Execution["waitsFor"][number]["kind"];
  what: string;
  since: string;
  run: TaskRun | null;
};

const BY_PEOPLE = ["answer", "person"];

/** What an execution waits for, those things first that somebody has to do. */
export function waitsOf({ waitsFor, runs }: Execution): Waiting[] {
  const people = runs.flatMap((run) =>
    run.endedAt === null && run.waitsFor && BY_PEOPLE.includes(run.waitsFor.kind)
      ? [{ kind: run.waitsFor.kind, what: run.waitsFor.what, since: run.waitsFor.since, run }]
      : [],
  );
  const named = new Set(people.map(({ run }) => run.id));
  const others = waitsFor
    .filter(({ run }) => run === null || !named.has(run))
    .map(({ kind, what, since, run }) => ({
      kind,
      what,
      since,
      run: runs.find(({ id }) => id === run) ?? null,
    }));
  return [...people, ...others];
}

/** Steps that no runner makes: they cannot be tried again. */
const NO_CALLS = ["set", "fail", "sleep", "approve", "subflow", "parallel", "switch", "forEach"];
const ENDING = ["KILLING", "SUCCESS", "FAILED", "KILLED"];
const RETRIED = ["SUBMITTED", "RUNNING", "WAITING", "RETRYING"];
const SKIPPED = ["WAITING", "RETRYING"];

export type StepVerb = "yes" | "no" | "retry" | "skip";

/** What can be done with a task run now; `type`: of its step, undefined while it is not known. */
export function verbsOf(execution: string, run: TaskRun, type: string | undefined): StepVerb[] {
  if (ENDING.includes(execution)) {
    return [];
  }
  const verbs: StepVerb[] = [];
  if (run.waitsFor?.kind === "answer" && run.state === "WAITING") {
    verbs.push("yes", "no");
  }
  if (RETRIED.includes(run.state) && type !== undefined && !NO_CALLS.includes(type)) {
    verbs.push("retry");
  }
  if (SKIPPED.includes(run.state)) {
    verbs.push("skip");
  }
  return verbs;
}
