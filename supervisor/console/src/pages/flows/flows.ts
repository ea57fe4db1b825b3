import { everyStep, graphsOf } from "@/components/flow/plan";
import { counted } from "@/text/numbers";
import type { FlowVersion, Listed } from "./data";

/** What a flow is for, in the words of its author; empty: it has none. */
export function descriptionOf({ document }: FlowVersion): string {
  const text = document?.description;
  return typeof text === "string" ? text : "";
}

/** How many steps a flow has, those within others too. */
export function stepsOf({ document }: FlowVersion): number {
  return everyStep(graphsOf(document)).length;
}

/** The flows whose name or description has these letters. */
export function fitting(flows: readonly FlowVersion[], q: string | undefined): FlowVersion[] {
  const text = q?.toLowerCase() ?? "";
  return flows.filter((each) =>
    `${each.flow}\n${descriptionOf(each)}`.toLowerCase().includes(text),
  );
}

/** How many flows there are, in a sentence. */
export function sentenceOf({ flows, hasMore }: Listed): string {
  const number = counted(flows.length, "flow");
  return `${hasMore ? `The first ${number}` : number}: bounded work in steps`;
}
