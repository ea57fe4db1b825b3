import { missing, useMe } from "@/api/me";
import { ANSWER, RETRY, retryOf, SKIP, skipOf } from "@/changes/executions";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { visible } from "@/text/visible";
import { openAnswer } from "./Answer";
import type { TaskRun } from "./data";
import { labelOf } from "./tree";
import { type StepVerb, verbsOf } from "./waits";

type Props = {
  execution: { id: string; state: string };
  run: TaskRun;
  /** The type of its step; undefined: it is not known. */
  type: string | undefined;
  /** Called before a dialog opens: another dialog closes. */
  onOpen?: () => void;
};

const WORDS: Record<StepVerb, string> = {
  yes: "Yes…",
  no: "No…",
  retry: "Try again…",
  skip: "Skip…",
};
const PATHS = { yes: ANSWER, no: ANSWER, retry: RETRY, skip: SKIP } as const;

/** What can be done with a step now: each button opens a dialog. */
export function RunVerbs({ execution, run, type, onOpen }: Props) {
  const me = useMe();
  const name = { execution: execution.id, run: run.id, step: run.step };
  const open = (verb: StepVerb) => {
    onOpen?.();
    if (verb === "retry" || verb === "skip") {
      openAction(verb === "retry" ? retryOf(name) : skipOf(name));
    } else {
      openAnswer(name, run.waitsFor?.what ?? "", verb === "yes");
    }
  };
  return verbsOf(execution.state, run, type).map((verb) => (
    <Barred
      key={verb}
      size="compact-xs"
      variant={verb === "yes" ? "filled" : "default"}
      aria-label={`${WORDS[verb].replace("…", "")} ${visible(labelOf(run))}`}
      why={missing(me, neededFor("post", PATHS[verb]), null)}
      onClick={() => open(verb)}
    >
      {WORDS[verb]}
    </Barred>
  ));
}
