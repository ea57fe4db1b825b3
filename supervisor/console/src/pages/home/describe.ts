import { known } from "@/text/known";
import { visible } from "@/text/visible";

type Detail = Readonly<Record<string, unknown>>;

const WORDS: Readonly<Record<string, (detail: Detail) => string>> = {
  "supervisor-created": (detail) => `was created${byWhom(detail)}`,
  "spec-stored": (detail) => `has version ${text(detail.version)}${byWhom(detail)}`,
  "supervisor-suspended": (detail) => `was suspended${byWhom(detail)}`,
  "supervisor-resumed": (detail) => `was resumed${byWhom(detail)}`,
  "supervisor-terminated": (detail) => `was terminated${byWhom(detail)}`,
  "state-changed": (detail) =>
    `is ${text(detail.detailedState) || text(detail.state)}${because(detail)}`,
  "stream-silent": (detail) => `has no answer from Kafka${because(detail)}`,
  "stream-answers": () => "has answers from Kafka again",
  "offsets-reset": (detail) => `had its offsets set${byWhom(detail)}${because(detail)}`,
  "gap-declared": (detail) => `has a gap declared: ${text(detail.kind)}${because(detail)}`,
  "generation-end-fixed": () => "hands a range off",
  "generation-published": () => "published a range",
  "handoff-asked": (detail) => `hands off early${byWhom(detail)}`,
  "generation-discarded": (detail) => `discarded a range${because(detail)}`,
  "replicas-diverged": (detail) => `has replicas that differ${because(detail)}`,
};

/** Says in words what an event is; a type of a newer overlord is shown as it is. */
export function describe(type: string, detail: Detail): string {
  return visible(known(WORDS, type)?.(detail) ?? type);
}

function byWhom({ author }: Detail): string {
  return text(author) === "" ? "" : ` by ${text(author)}`;
}

function because({ why }: Detail): string {
  return text(why) === "" ? "" : `: ${text(why)}`;
}

function text(value: unknown): string {
  return ["string", "number", "bigint"].includes(typeof value) ? String(value) : "";
}
