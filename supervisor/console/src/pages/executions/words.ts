import { counted } from "@/text/numbers";
import type { Listed } from "./data";

/** How many executions are shown, in a sentence. */
export function sentenceOf({ executions, hasMore }: Listed, isCut: boolean): string {
  const number = counted(executions.length, "execution");
  return `${hasMore ? `The newest ${number}` : number}${isCut ? " that fit the filters" : ""}, newest first`;
}

/** Adds a choice, or takes it away; undefined: none is left. */
export function toggled<T>(chosen: readonly T[] | undefined, one: T): T[] | undefined {
  const next = chosen?.includes(one)
    ? chosen.filter((each) => each !== one)
    : [...(chosen ?? []), one];
  return next.length === 0 ? undefined : next;
}

/** Reads a label that somebody wrote, `name:value` or `name=value`; null: it is none. */
export function labelOf(text: string): string | null {
  const [, name = "", value = ""] = /^\s*([^:=]*?)\s*[:=]\s*(.*?)\s*$/s.exec(text) ?? [];
  return name === "" ? null : `${name}:${value}`;
}
