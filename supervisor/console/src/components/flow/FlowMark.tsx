import { Mark } from "@/components/Mark";
import { lookOf } from "./looks";

/** A state of an execution, of a step or of an attempt: icon, word and colour. */
export function FlowMark({ state }: { state: string }) {
  return <Mark {...lookOf(state)}>{state}</Mark>;
}
