import { send } from "@/api/client";
import type { Action } from "@/components/action/action";
import { visible } from "@/text/visible";
import { quoted } from "./supervisors";

export const CANCEL = "/api/v1/compactions/{compaction}/cancel";

/** The dialog that gives a compaction up. */
export function cancelOf(id: string): Action {
  const name = visible(id);
  return {
    title: `Cancel the compaction ${name}`,
    verb: "Cancel the compaction",
    effect: "It is given up, whether it waits or runs. Its files stay as they are; no row is lost.",
    undo: "Begin another one, or let the table's rule do it.",
    command: `tidegate compaction cancel ${quoted(id)}`,
    request: { verb: "post", path: CANCEL.replace("{compaction}", encodeURIComponent(id)) },
    run: (key) => send("post", CANCEL, { path: { compaction: id }, key }),
    done: `The compaction ${name} is given up.`,
  };
}
