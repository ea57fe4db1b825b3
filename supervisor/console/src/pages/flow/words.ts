import { quoted } from "@/text/shell";
import type { FlowInput, Texts } from "./inputs";

/** The same start by the command line. */
export function commandOf(
  flow: string,
  inputs: readonly FlowInput[],
  texts: Texts,
  key: string,
): string {
  const options = inputs.flatMap(({ name }) => {
    const text = texts[name]?.trim() ?? "";
    return text === "" ? [] : [`-i ${quoted(`${name}=${text}`)}`];
  });
  const own = key.trim() === "" ? [] : [`--key ${quoted(key.trim())}`];
  return [`tidegate execution run ${quoted(flow)}`, ...options, ...own].join(" ");
}
