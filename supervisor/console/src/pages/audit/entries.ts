import type { Got } from "@/api/client";

type AuditEntry = Got<"/api/v1/audit">["entries"][number];
export type Denied = Got<"/api/v1/audit/denied">[number];

/** An entry with a name of its own: entries have no ids. */
export type Entry = AuditEntry & { key: string };
export type Change = { name: string; before: string | null; after: string };

/** Actions whose subject is a supervisor. */
const OF_SUPERVISORS: ReadonlySet<string> = new Set([
  "apply",
  "ask-handoff",
  "forget",
  "reset",
  "reset-offsets",
  "reset-to-latest-and-backfill",
  "resume",
  "rollback",
  "suspend",
  "terminate",
]);
/** Actions whose subject is a table. */
const OF_TABLES: ReadonlySet<string> = new Set([
  "begin-compaction",
  "cancel-compaction",
  "compact",
  "drop-compaction",
  "drop-retention",
  "mark-unused",
  "mark-used",
  "publish",
  "set-compaction",
  "set-retention",
]);
/** The page that shows the subject of an action which has one there. */
const PAGES: readonly [page: "flow" | "execution" | "worker" | "task", actions: RegExp][] = [
  ["flow", /^((apply|roll-back)-flow|(fire|pause|resume)-trigger)$/],
  ["execution", /-(execution|step)$/],
  ["worker", /^(enable|disable)-worker$/],
  ["task", /^stop-task$/],
];
/** What has a column of its own. */
const VERSION = /^\d{1,9}$/;
const ELSEWHERE: ReadonlySet<string> = new Set(["address", "supervisor", "before"]);

/** Names each entry by what it says; of entries that say the same, the oldest is the first. */
export function named(entries: readonly AuditEntry[]): Entry[] {
  const seen = new Map<string, number>();
  const oldestFirst = entries.toReversed().map((entry) => {
    const name = `${entry.at} ${entry.actor} ${entry.action} ${entry.subject}`;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return { ...entry, key: number === 1 ? name : `${name} ${number}` };
  });
  return oldestFirst.reverse();
}

/** The supervisor that an entry is about; null: none. */
export function supervisorOf({ action, subject, detail }: AuditEntry): string | null {
  return textOf(detail.supervisor) ?? (OF_SUPERVISORS.has(action) ? subject : null);
}

/** The table that an entry is about; null: it is about something else. */
export function tableOf({ action, subject }: AuditEntry): string | null {
  return OF_TABLES.has(action) ? subject : null;
}

/** The version of a supervisor's spec that an entry is about; null: it stored none. */
export function versionOf({ action, detail }: AuditEntry): number | null {
  const version = detail.version ?? "";
  return OF_SUPERVISORS.has(action) && VERSION.test(version) ? Number(version) : null;
}

/** The kind of page that shows what an entry is about; null: none of these does. */
export function pageOf({ action }: AuditEntry) {
  return PAGES.find(([, actions]) => actions.test(action))?.[0] ?? null;
}

/** Container and name of the queue that an entry is about; null: it is about something else. */
export function queueOf({ action, subject }: AuditEntry) {
  const at = subject.lastIndexOf("/");
  return action.startsWith("queue-") && at > 0
    ? { container: subject.slice(0, at), name: subject.slice(at + 1) }
    : null;
}

/** The address that the change came from; null: it is not on record. */
export function addressOf({ detail }: AuditEntry): string | null {
  return textOf(detail.address);
}

/** What was changed, from what to what as far as it is on record. */
export function changesOf({ detail }: AuditEntry): Change[] {
  const before = textOf(detail.before);
  return Object.entries(detail)
    .filter(([name, value]) => !ELSEWHERE.has(name) && value !== "")
    .map(([name, value]) => ({ name, before: beforeOf(name, value, before), after: value }));
}

function beforeOf(name: string, value: string, before: string | null): string | null {
  // The versions of a spec are numbered without a gap.
  const version = name === "version" && VERSION.test(value) ? Number(value) : 0;
  return version > 1 ? String(version - 1) : name === "grants" ? before : null;
}

/** Writes the changes of an entry in one line. */
export function lineOf(changes: readonly Change[]): string {
  return changes
    .map(({ name, before, after }) => `${name} ${before === null ? "" : `${before} to `}${after}`)
    .join(" · ");
}

/** Puts tries together that were refused alike: the newest group first. */
export function grouped(tries: readonly Denied[]): Denied[] {
  const groups = new Map<string, Denied>();
  for (const each of tries) {
    const name = JSON.stringify([each.name, each.address, each.what, each.why]);
    const group = groups.get(name);
    groups.set(name, group === undefined ? each : together(group, each));
  }
  return [...groups.values()].sort((one, other) => compare(other.lastAt, one.lastAt));
}

function together(one: Denied, other: Denied): Denied {
  return {
    ...one,
    times: one.times + other.times,
    firstAt: compare(one.firstAt, other.firstAt) < 0 ? one.firstAt : other.firstAt,
    lastAt: compare(one.lastAt, other.lastAt) < 0 ? other.lastAt : one.lastAt,
  };
}

function compare(one: string, other: string): number {
  return Date.parse(one) - Date.parse(other);
}

function textOf(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}
