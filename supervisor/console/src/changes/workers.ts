import { send } from "@/api/client";
import type { Action } from "@/components/action/action";
import { visible } from "@/text/visible";

const ENABLE = "/druid/indexer/v1/worker/{host}/enable";

/** The dialog that has a worker take tasks again. */
export function enableOf(worker: string, command: string): Action {
  const name = visible(worker);
  return {
    title: `Enable the worker ${name}`,
    verb: "Enable",
    effect: "It is given tasks again, from the next pass of each supervisor on.",
    undo: "Disable it again.",
    command,
    request: { verb: "post", path: ENABLE.replace("{host}", encodeURIComponent(worker)) },
    run: (key) => send("post", ENABLE, { path: { host: worker }, key }),
    done: `The worker ${name} takes tasks again.`,
  };
}
