import type { Action } from "@/components/action/action";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { sendingOf } from "./change";

export const START = "/api/v1/flows/{flow}/executions";
export const DELETE_FLOW = "/api/v1/flows/{flow}";
export const ROLL_BACK_FLOW = "/api/v1/flows/{flow}/versions/{version}/rollback";

/** The dialog that deletes a flow. */
export function deleteFlowOf(flow: string): Action {
  return {
    ...sendingOf("delete", DELETE_FLOW, { at: { flow } }),
    title: `Delete the flow ${visible(flow)}`,
    verb: "Delete",
    effect: "Nothing starts it any more. What runs goes on to its end, and its versions stay.",
    undo: "Roll it back to one of its versions.",
    command: `tidegate flow delete ${quoted(flow)}`,
    done: `The flow ${visible(flow)} is deleted.`,
  };
}

/** The dialog that makes an earlier version the newest again; `newest` null: it is deleted. */
export function rollBackFlowOf(flow: string, version: number, newest: number | null): Action {
  return {
    ...sendingOf("post", ROLL_BACK_FLOW, { at: { flow, version } }),
    title: `Roll ${visible(flow)} back to version ${version}`,
    verb: "Roll back",
    effect: `The document of version ${version} is stored as the newest version. What runs keeps the version that it began with.`,
    undo:
      newest === null
        ? "Delete the flow again."
        : `Roll back to version ${newest}: each version stays.`,
    command: `tidegate flow rollback ${quoted(flow)} ${version}`,
    done: `${visible(flow)} has the document of version ${version} again.`,
  };
}
