import { get } from "@/api/client";
import { Problem } from "@/api/problem";
import { previewedOf } from "@/changes/change";
import { HANDOFF, TERMINATE, TERMINATE_EFFECT } from "@/changes/lifecycle";
import { RESUME, RESUME_EFFECT, SUSPEND, SUSPEND_EFFECT } from "@/changes/supervisors";
import { type Action, neededFor, type VerbPreview } from "@/components/action/action";
import { type Confirm, confirmOf } from "@/components/action/effect";

const STATUS = "/druid/indexer/v1/supervisor/{supervisor_id}/status";

export type BulkVerb = "suspend" | "resume" | "handoff" | "terminate";

type Words = {
  word: string;
  effect: string;
  undo: string;
  path: typeof SUSPEND | typeof RESUME | typeof HANDOFF | typeof TERMINATE;
};

/** The verbs for many supervisors, by their commands, in the order of their buttons. */
export const BULK: Readonly<Record<BulkVerb, Words>> = {
  suspend: { word: "Suspend", effect: SUSPEND_EFFECT, undo: "Resume them.", path: SUSPEND },
  resume: { word: "Resume", effect: RESUME_EFFECT, undo: "Suspend them again.", path: RESUME },
  handoff: {
    word: "Hand off",
    effect:
      "What was read so far is published before the taskDuration is over, and reading goes on behind it. A group that has read nothing is left alone.",
    undo: "Cannot be undone; nothing is lost or read twice by it.",
    path: HANDOFF,
  },
  terminate: {
    word: "Terminate",
    effect: TERMINATE_EFFECT,
    undo: "Bring each back from its page: it goes on at its committed offsets, as long as Kafka holds them.",
    path: TERMINATE,
  },
};
export const BULK_VERBS = Object.keys(BULK) as BulkVerb[];

/** The permission that a verb needs. */
export function neededForBulk(verb: BulkVerb) {
  return neededFor("post", BULK[verb].path);
}

/** What a change of one of many consists of. */
export type BulkChange = Required<Pick<Action, "preview">> & Pick<Action, "run">;

/** The change of one supervisor; a handoff is of the groups that read when it is made. */
export async function changeOf(verb: BulkVerb, id: string): Promise<BulkChange> {
  const at = { supervisor_id: id };
  if (verb !== "handoff") {
    return previewedOf("post", BULK[verb].path, { at });
  }
  const { payload } = await get(STATUS, { path: at });
  const taskGroupIds = groupsIn(payload.groups);
  if (taskGroupIds.length === 0) {
    throw nothingToHandOff();
  }
  return previewedOf("post", HANDOFF, { at, body: { taskGroupIds } });
}

/** The numbers of groups, each once. */
export function groupsIn(groups: readonly { group: number }[]): number[] {
  return [...new Set(groups.map(({ group }) => group))].sort((one, other) => one - other);
}

/** Why a supervisor is left alone by a handoff. */
function nothingToHandOff(): Problem {
  const title = "No group reads now: there is nothing to hand off.";
  return new Problem(400, "nothing-to-hand-off", title, "");
}

/** From so many on their number has to be typed. */
const TYPED_FROM = 10;

/**
 * What has to be typed before many are changed: where records are lost their number, of many and of
 * those that are terminated how many they are.
 */
export function confirmOfMany(verb: BulkVerb, previews: readonly VerbPreview[]): Confirm | null {
  const losses = previews.map(confirmOf).filter((each) => each !== null);
  const [first] = losses;
  if (first !== undefined && losses.every(({ what }) => what === first.what)) {
    const sum = losses.reduce((total, { number }) => total + BigInt(number), 0n);
    return { number: String(sum), what: first.what };
  }
  return previews.length > 0 &&
    (verb === "terminate" || losses.length > 0 || previews.length >= TYPED_FROM)
    ? { number: String(previews.length), what: "supervisors" }
    : null;
}
