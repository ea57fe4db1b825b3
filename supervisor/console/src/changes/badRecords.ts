import type { components } from "@/api/schema";
import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { previewedOf } from "./change";

export const REPLAY = "/api/v1/supervisors/{supervisor_id}/quarantine/replay";

export type WantedReplay = components["schemas"]["WantedReplay"];

/** The dialog that has the overlord send bad records to another topic. */
export function replayOf(id: string, wanted: WantedReplay): Action {
  const { topic, reason, partition, most, keepTime } = wanted;
  const options = [
    `--topic ${quoted(topic)}`,
    ...(reason == null ? [] : [`--of ${quoted(reason)}`]),
    ...(partition == null ? [] : [`--partition ${partition}`]),
    ...(most === undefined ? [] : [`--limit ${most}`]),
    ...(keepTime ? ["--keep-time"] : []),
  ];
  return {
    ...previewedOf("post", REPLAY, { at: { supervisor_id: id }, body: wanted }),
    title: `Replay bad records of ${visible(id)}`,
    verb: "Replay",
    effect: `They are sent to ${visible(topic)} as they were, each at most once.`,
    undo: "Cannot be undone. The bad records stay where they are kept.",
    command: `tidegate quarantine send ${quoted(id)} ${options.join(" ")}`,
    supervisor: id,
    done: "The overlord sends them in the background: the changes on Overview say how it ends.",
  };
}
