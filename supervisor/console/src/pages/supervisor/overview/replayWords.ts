import type { components } from "@/api/schema";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";

type Replayed = components["schemas"]["ReplayView"];

/** Says where a replay sends bad records, and what it did. */
export function replayWords({ topic, sent, there, more, problem }: Replayed): string {
  const target = `to ${visible(topic)}`;
  if (problem !== null) {
    return `${target}: ${visible(problem)}`;
  }
  if (sent === null) {
    return target;
  }
  const known = there === null || there === 0 ? "" : `, ${exact(there)} were there`;
  return `${exact(sent)} sent ${target}${known}${more ? "; there are more" : ""}`;
}
