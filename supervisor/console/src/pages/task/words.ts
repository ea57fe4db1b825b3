import { counted, exact } from "@/text/numbers";
import { span } from "@/text/times";
import type { Task } from "./data";
import type { Facts } from "./facts";

type Ended = Pick<Task, "status" | "runnerStatusCode" | "reason" | "errorMsg" | "duration">;

/** Says what a task reads, without its supervisor: "2 partitions of topic clicks, for group 0". */
export function readingOf({ stream, group, start }: Facts): string {
  const [only] = start.keys();
  const partitions = start.size === 1 ? `partition ${only}` : counted(start.size, "partition");
  return `${partitions} of topic ${stream}, for group ${exact(group)}`;
}

/** Says how a task goes or ended, and why. */
export function endingOf({ status, runnerStatusCode, reason, errorMsg, duration }: Ended): string {
  const why = reason || errorMsg || "";
  if (status === "RUNNING") {
    return runnerStatusCode === "PENDING"
      ? "Its worker has not reported it yet."
      : "It runs: its worker reports it.";
  }
  const after = duration < 0 ? "" : ` after ${span(duration)}`;
  const because = why === "" ? ", and why is not on record" : `: ${why}`;
  if (status === "SUCCESS") {
    return `It succeeded${after}${why === "" ? "" : because}.`;
  }
  return status === "FAILED"
    ? `It failed${after}${because}.`
    : `It is ${status}, which this release does not know${because}.`;
}
