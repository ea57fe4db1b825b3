/** The types of events by what they are about; of a newer overlord there may be others. */
export const FAMILIES = [
  [
    "The supervisor",
    [
      "supervisor-created",
      "spec-stored",
      "supervisor-suspended",
      "supervisor-resumed",
      "supervisor-terminated",
      "state-changed",
      "stream-silent",
      "stream-answers",
    ],
  ],
  ["Offsets", ["offsets-initialised", "offsets-reset", "gap-declared"]],
  [
    "Handoffs",
    [
      "handoff-asked",
      "generation-opened",
      "generation-pausing",
      "generation-resumed",
      "generation-end-fixed",
      "generation-published",
      "generation-empty",
      "generation-discarded",
      "replicas-diverged",
    ],
  ],
  ["Tasks", ["task-started", "task-ended"]],
  ["Compactions", ["compaction-begun", "compaction-ended"]],
] as const;

/** Types of events that are kept when those of handoffs are trimmed. */
const LASTING: ReadonlySet<string> = new Set([...FAMILIES[0][1], ...FAMILIES[1][1]]);

/** Whether a list of these types, from a time on, lacks events that were trimmed; none: all types. */
export function lacksTrimmed(
  types: readonly string[],
  since: string | undefined,
  completeSince: string,
): boolean {
  const isShort = types.length === 0 || types.some((type) => !LASTING.has(type));
  return isShort && (since === undefined || Date.parse(since) < Date.parse(completeSince));
}

/** Types that mean that something went wrong. */
const TROUBLES: ReadonlySet<string> = new Set([
  "generation-discarded",
  "replicas-diverged",
  "gap-declared",
  "stream-silent",
]);

type Detail = Readonly<Record<string, unknown>>;

/** Whether an event is one of a trouble. */
export function isTrouble(type: string, detail: Detail): boolean {
  const isFailure = type === "task-ended" && detail.status === "FAILED";
  return TROUBLES.has(type) || isFailure || (type === "state-changed" && detail.healthy === false);
}

/** Members of a detail that say in a line what happened, in this order. */
const TELLING = [
  "detailedState",
  "status",
  "version",
  "author",
  "rows",
  "rejected",
  "kind",
  "found",
  "worker",
  "attempt",
  "reason",
  "why",
];

/** Sums up an event's detail in a line. */
export function summed(detail: Detail): string {
  return TELLING.filter((name) => isPlain(detail[name]) && detail[name] !== "")
    .map((name) => (name === "why" ? String(detail.why) : `${name} ${String(detail[name])}`))
    .join(" · ");
}

function isPlain(value: unknown): boolean {
  return ["string", "number", "bigint", "boolean"].includes(typeof value);
}
