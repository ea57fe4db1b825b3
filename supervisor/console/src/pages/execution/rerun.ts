import { quoted } from "@/text/shell";

/** How an execution is rerun; `from` "": what was not done. */
export type Rerun = { from: string; latest: boolean; force: boolean };

type Steps = { keeps: readonly string[]; goesOn: readonly string[]; runs: readonly string[] };

/** The steps with which a rerun can begin, of what it would do as a whole. */
export function stepsOf(plan: Steps | undefined): string[] {
  return plan === undefined ? [] : [...plan.keeps, ...plan.goesOn, ...plan.runs];
}

/** The body of the request. */
export function bodyOf({ from, latest, force }: Rerun) {
  return { ...(from === "" ? {} : { from }), latest, force };
}

/** The same by the command line. */
export function commandOf(execution: string, { from, latest, force }: Rerun): string {
  const options = [
    ...(from === "" ? [] : [`--from ${quoted(from)}`]),
    ...(latest ? ["--latest"] : []),
    ...(force ? ["--force"] : []),
  ];
  return [`tidegate execution rerun ${quoted(execution)}`, ...options].join(" ");
}
