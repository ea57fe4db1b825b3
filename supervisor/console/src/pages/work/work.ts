import type { Got } from "@/api/client";
import type { IconName } from "@/components/Icon";
import type { Tone } from "@/components/Mark";
import { counted, exact } from "@/text/numbers";
import type { Kind, Standing, WorkSearch } from "./search";

type Operation = Got<"/api/v1/operations">["operations"][number];
type Compaction = Got<"/api/v1/compactions">["compactions"][number];
type Export = Got<"/api/v1/exports">["exports"][number];
type Supervisor = Got<"/api/v1/supervisors">["supervisors"][number];

/** One piece of work that somebody, or a rule, has wanted. */
export type Work = {
  key: string;
  kind: Kind;
  standing: Standing;
  /** The word of its own kind, such as superseded or behind. */
  state: string;
  /** What is done: apply, compaction of 3 files, delta. */
  what: string;
  supervisor: string | null;
  table: string | null;
  /** What it waits for, why it failed, or what came of it. */
  note: string;
  /** 0 to 1; null: it is not known how far it is. */
  progress: number | null;
  progressWords: string;
  since: string | null;
  endedAt: string | null;
  by: string;
  reason: string | null;
  /** Ids of ranges that the note may name. */
  ranges: readonly string[];
  /** The id of a compaction that can be given up. */
  cancel: string | null;
};

const NOTHING = {
  supervisor: null,
  table: null,
  note: "",
  progress: null,
  progressWords: "",
  since: null,
  endedAt: null,
  by: "",
  reason: null,
  ranges: [],
  cancel: null,
};

export function ofOperation(operation: Operation): Work {
  const { id, kind, supervisor, state, waitsFor, at, finishedAt, askedBy, reason } = operation;
  const version = operation.specVersion;
  return {
    ...NOTHING,
    key: id,
    kind: "operation",
    standing: state === "running" ? "running" : "ended",
    state,
    what: version === null ? kind : `${kind}, version ${version}`,
    supervisor,
    note: noteOf(operation, waitsFor),
    since: at,
    endedAt: finishedAt,
    by: askedBy,
    reason: reason ?? null,
    ranges: operation.ranges ?? [],
  };
}

function noteOf({ unpublished }: Operation, waitsFor: string): string {
  const given = unpublished?.length ?? 0;
  const words = given === 0 ? "" : `${counted(given, "range")} given up unpublished`;
  return waitsFor === "" ? words : `waits for ${waitsFor}`;
}

export function ofCompaction(compaction: Compaction): Work {
  const { id, dataSource, status, statusCode, files, rows, workerId, detail } = compaction;
  const isLive = status === "RUNNING";
  return {
    ...NOTHING,
    key: `compaction ${id}`,
    kind: "compaction",
    standing: isLive ? "running" : status === "SUCCESS" ? "ended" : "trouble",
    state: status === "SUCCESS" ? "done" : statusCode.toLowerCase(),
    what: `${counted(files, "file")} into one, ${counted(rows, "row")}`,
    table: dataSource,
    note: isLive ? (workerId === null ? "waits for a worker" : `on ${workerId}`) : detail,
    since: compaction.createdAt,
    endedAt: compaction.endedAt,
    // Of a compaction the member has who wanted it: a rule, or a caller by name.
    by: compaction.reason,
    cancel: isLive ? id : null,
  };
}

/** An export; null: it is switched off. */
export function ofExport(each: Export): Work | null {
  const { dataSource, format, state, problem, lagSeconds, exportedAt } = each;
  if (state === "off") {
    return null;
  }
  const isEqual = state === "equal";
  return {
    ...NOTHING,
    key: `export ${format} ${dataSource}`,
    kind: "export",
    standing: isEqual ? "ended" : state === "behind" ? "running" : "trouble",
    state,
    what: `${format} of the table`,
    table: dataSource,
    note: problem || (lagSeconds > 0 ? `${exact(Math.round(lagSeconds))} s behind the table` : ""),
    since: isEqual ? null : exportedAt,
    endedAt: isEqual ? exportedAt : null,
  };
}

/** A supervisor that reads fixed ranges once; null: it reads for ever. */
export function ofSupervisor(row: Supervisor): Work | null {
  const { id, dataSource, state, detailedState, healthy, why, bounded, since } = row;
  if (bounded === null) {
    return null;
  }
  const isDone = state === "COMPLETED";
  const { records, published } = bounded;
  return {
    ...NOTHING,
    key: `backfill ${id}`,
    kind: "backfill",
    standing: isDone ? "ended" : healthy ? "running" : "trouble",
    state: isDone ? "done" : detailedState,
    what: `${counted(records, "record")} once`,
    supervisor: id,
    table: dataSource,
    note: why,
    progress: published === null ? null : records === 0 ? 1 : published / records,
    progressWords:
      published === null ? "" : `${exact(published)} of ${counted(records, "record")} published`,
    since: row.versionAt,
    endedAt: isDone ? since : null,
    by: row.versionBy,
  };
}

const DAY_MS = 86_400_000;

/** What the filters let through: all that goes on, and what has ended in the last 24 h. */
export function shown(work: readonly Work[], { kind, state }: WorkSearch, now: number): Work[] {
  return work.filter(
    (each) =>
      (kind === undefined || kind.includes(each.kind)) &&
      (state === undefined || state.includes(each.standing)) &&
      (each.standing === "running" || isRecent(each, now)),
  );
}

function isRecent({ kind, standing, endedAt }: Work, now: number): boolean {
  // Trouble that has no end goes on: an export that is stuck, a backfill that cannot read.
  const at = endedAt === null ? Number.NaN : Date.parse(endedAt);
  return Number.isNaN(at) ? standing === "trouble" || kind === "operation" : now - at < DAY_MS;
}

const RANKS: Record<Standing, number> = { trouble: 0, running: 1, ended: 2 };

/** Trouble first, then what runs, then what has ended; the newest first. */
export function inOrder(work: readonly Work[]): Work[] {
  const at = ({ endedAt, since }: Work) => Date.parse(endedAt ?? since ?? "") || 0;
  return [...work].sort(
    (one, other) => RANKS[one.standing] - RANKS[other.standing] || at(other) - at(one),
  );
}

/** A state as icon and colour beside its own word. */
export function markOf({ standing, state }: Work): { tone: Tone; icon: IconName } {
  if (standing === "trouble") {
    return { tone: "broken", icon: "broken" };
  }
  if (standing === "running") {
    return { tone: "note", icon: "waiting" };
  }
  return state === "superseded" ? { tone: "dim", icon: "note" } : { tone: "good", icon: "done" };
}

/** Cuts a text at names in parentheses: "group 0 pauses (" "orders:3" ")". */
export function cutAt(text: string, names: readonly string[]): { text: string; isName: boolean }[] {
  const parts: { text: string; isName: boolean }[] = [];
  let rest = text;
  for (let at = nearest(rest, names); at !== null; at = nearest(rest, names)) {
    parts.push({ text: rest.slice(0, at.index), isName: false });
    parts.push({ text: at.name, isName: true });
    rest = rest.slice(at.index + at.name.length);
  }
  return [...parts, { text: rest, isName: false }];
}

function nearest(text: string, names: readonly string[]) {
  const found = names
    .map((name) => ({ name, index: text.indexOf(`(${name})`) + 1 }))
    .filter(({ index }) => index > 0);
  return found.reduce<(typeof found)[number] | null>(
    (first, each) => (first === null || each.index < first.index ? each : first),
    null,
  );
}

/** How much there is, in a sentence. */
export function sentenceOf(work: readonly Work[]): string {
  const count = (standing: Standing) => work.filter((each) => each.standing === standing).length;
  const [trouble, running, ended] = [count("trouble"), count("running"), count("ended")];
  if (work.length === 0) {
    return "Nothing was asked for in 24 h.";
  }
  return [
    ...(trouble > 0 ? [`${exact(trouble)} in trouble`] : []),
    running === 0 ? "nothing runs" : `${exact(running)} running`,
    `${exact(ended)} ended in the last 24 h`,
  ].join(" · ");
}
