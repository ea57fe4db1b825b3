import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { previewedOf, sendingOf } from "./change";

export const ENABLE = "/druid/indexer/v1/worker/{host}/enable";
export const DISABLE = "/druid/indexer/v1/worker/{host}/disable";
export const FORGET_WORKER = "/druid/indexer/v1/worker/{host}/forget";

/** The dialog that has a worker take tasks again. */
export function enableOf(
  worker: string,
  command = `tidegate worker enable ${quoted(worker)}`,
): Action {
  const name = visible(worker);
  return {
    ...previewedOf("post", ENABLE, { at: { host: worker } }),
    title: `Enable the worker ${name}`,
    verb: "Enable",
    effect: "It is given tasks again, from the next pass of each supervisor on.",
    undo: "Disable it again.",
    command,
    done: `The worker ${name} takes tasks again.`,
  };
}

/** The dialog that takes a worker out: it finishes what it has. */
export function disableOf(worker: string): Action {
  const name = visible(worker);
  return {
    ...previewedOf("post", DISABLE, { at: { host: worker } }),
    title: `Take the worker ${name} out`,
    verb: "Take out",
    effect: "It gets nothing new, and finishes what it has. It stays so over restarts.",
    undo: "Enable it again.",
    command: `tidegate worker disable ${quoted(worker)}`,
    done: `The worker ${name} gets nothing new.`,
  };
}

/** The dialog that forgets a worker that is gone for good. */
export function forgetWorkerOf(worker: string): Action {
  const name = visible(worker);
  return {
    ...sendingOf("post", FORGET_WORKER, { at: { host: worker } }),
    title: `Forget the worker ${name}`,
    verb: "Forget",
    effect:
      "What its tasks left behind is deleted. Published files stay; what it had read and not published is read again.",
    undo: "Cannot be undone. If it comes back, it registers as a new one.",
    command: `tidegate worker forget ${quoted(worker)}`,
    done: `The worker ${name} is forgotten.`,
  };
}
