import { HANDOFF, TERMINATE } from "@/changes/lifecycle";
import { RESUME, SUSPEND } from "@/changes/supervisors";
import { neededFor } from "@/components/action/action";
import type { DialogName } from "../search";

export const RESET = "/druid/indexer/v1/supervisor/{supervisor_id}/reset";

/** A verb of a supervisor: its name is that of its command, its label that of its button. */
export type VerbOfSupervisor = {
  name: DialogName;
  label: string;
  path: typeof RESET | typeof SUSPEND | typeof RESUME | typeof TERMINATE | typeof HANDOFF;
  /** Whether it is for supervisors that are suspended; undefined: for all. */
  ofSuspended?: boolean;
};

export const VERBS: readonly VerbOfSupervisor[] = [
  { name: "handoff", label: "Hand off", path: HANDOFF, ofSuspended: false },
  { name: "suspend", label: "Suspend", path: SUSPEND, ofSuspended: false },
  { name: "resume", label: "Resume", path: RESUME, ofSuspended: true },
  { name: "reset", label: "Set offsets", path: RESET },
  { name: "terminate", label: "Terminate", path: TERMINATE },
];

/** The permission that a verb needs. */
export function neededForVerb({ path }: VerbOfSupervisor) {
  return neededFor("post", path);
}

/** The verbs for a supervisor as it is now. */
export function verbsFor(isSuspended: boolean): readonly VerbOfSupervisor[] {
  return VERBS.filter(({ ofSuspended }) => (ofSuspended ?? isSuspended) === isSuspended);
}

const LETTERS_MIN = 2;

/** Reads "suspend orders" as a verb and its supervisor; "sus" is the beginning of a verb, of none. */
export function readVerbs(text: string): { verb: VerbOfSupervisor; name: string }[] {
  const typed = text.trim();
  return VERBS.flatMap((verb) => {
    for (const word of [verb.name, verb.label.toLowerCase()]) {
      if (typed.toLowerCase().startsWith(`${word} `)) {
        return [{ verb, name: typed.slice(word.length + 1).trim() }];
      }
      if (typed.length >= LETTERS_MIN && word.startsWith(typed.toLowerCase())) {
        return [{ verb, name: "" }];
      }
    }
    return [];
  });
}
