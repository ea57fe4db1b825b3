import { useMemo } from "react";
import type { Got } from "@/api/client";
import { type Overview, useOverview } from "@/api/overview";
import { POLL_MS, SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import type { TablesSearch } from "./search";

const PATH = "/api/v1/datasources";
const DUE_MAX = 1_000;

type Answer = Got<typeof PATH>;
export type TableStats = Extract<Answer, { stats: unknown }>["stats"][number];
export type ExportRow = Got<"/api/v1/exports">["exports"][number];

/** A table with what other answers know of it. */
export type TableRow = TableStats & {
  /** Its exports that are switched on; undefined: not known yet. */
  states: ExportRow[] | undefined;
  /** Its supervisors that need somebody. */
  broken: string[];
  /** When its first rows are due; null: not known. */
  due: string | null;
};

/** All tables with their totals. */
export function useTables() {
  const query = useApi(PATH, { query: { stats: true } }, POLL_MS);
  const stats = query.data === undefined ? undefined : statsOf(query.data);
  return { ...query, data: stats };
}

/** The list's rows: the totals, and of three other answers what concerns each table. */
export function useRows() {
  const query = useTables();
  const exports = useApi("/api/v1/exports", {}, SAFETY_MS).data?.exports;
  const attention = useOverview(SAFETY_MS).data?.attention;
  const stats = query.data;
  const waits = stats?.some(isAwaited) ?? false;
  const due = useDue(waits);
  const data = useMemo(
    () => stats && rowsOf(stats, exports, attention ?? [], due),
    [stats, exports, attention, due],
  );
  return { ...query, data };
}

/** Table -> when its first supervisor publishes next; asked only while a table has no rows. */
function useDue(waits: boolean): ReadonlyMap<string, string> | undefined {
  const query = { sort: "nextPublishDue" as const, limit: waits ? DUE_MAX : 1 };
  const { data } = useApi("/api/v1/supervisors", { query }, waits ? POLL_MS : SAFETY_MS);
  return useMemo(() => data && dueOf(data.supervisors), [data]);
}

type Fed = { dataSource: string | null; nextPublishDue: string | null };

export function dueOf(supervisors: readonly Fed[]): ReadonlyMap<string, string> {
  const due = new Map<string, string>();
  for (const { dataSource, nextPublishDue } of supervisors) {
    const before = dataSource === null ? undefined : due.get(dataSource);
    if (dataSource !== null && nextPublishDue !== null && !(before && before < nextPublishDue)) {
      due.set(dataSource, nextPublishDue);
    }
  }
  return due;
}

function statsOf(answer: Answer): TableStats[] {
  return "stats" in answer ? answer.stats : [];
}

function isAwaited({ files, unusedFiles, supervisors }: TableStats): boolean {
  return files === 0 && unusedFiles === 0 && supervisors.length > 0;
}

export function rowsOf(
  stats: readonly TableStats[],
  exports: readonly ExportRow[] | undefined,
  attention: Overview["attention"],
  due: ReadonlyMap<string, string> | undefined,
): TableRow[] {
  const broken = new Set(
    attention
      .filter(({ severity }) => severity === "broken")
      .flatMap(({ about, supervisors }) =>
        about.kind === "supervisor" ? [about.id, ...supervisors] : supervisors,
      ),
  );
  return stats.map((each) => ({
    ...each,
    states: exports?.filter(({ dataSource, state }) => dataSource === each.name && state !== "off"),
    broken: each.supervisors.filter((id) => broken.has(id)),
    due: due?.get(each.name) ?? null,
  }));
}

/** Whether an export of it, or a supervisor that feeds it, needs somebody. */
export function isInTrouble({ broken, states }: TableRow): boolean {
  return broken.length > 0 || (states?.some(({ state }) => isBad(state)) ?? false);
}

export function isBad(state: string): boolean {
  return state === "stuck" || state === "failing";
}

/** The rows that fit the filters, in their order: those in trouble first unless one is chosen. */
export function chosenOf(rows: readonly TableRow[], { q, only, sort }: TablesSearch): TableRow[] {
  const part = q?.toLowerCase();
  const fits = rows.filter(
    (row) =>
      (part === undefined ||
        [row.name, ...row.supervisors].some((text) => text.toLowerCase().includes(part))) &&
      (only === undefined || FITS[only](row)),
  );
  const isDown = sort?.startsWith("-") ?? false;
  const value = valuesOf(sort?.replace("-", "") ?? "");
  return fits.sort((one, other) => {
    const order = compared(value(one), value(other), isDown);
    return order === 0 ? compared(one.name, other.name, false) : order;
  });
}

const FITS = {
  trouble: isInTrouble,
  exported: (row: TableRow) => row.exports.length > 0,
  empty: (row: TableRow) => row.files === 0,
};

type Value = number | bigint | string | null;

function valuesOf(column: string): (row: TableRow) => Value {
  switch (column) {
    case "name":
    case "rows":
    case "bytes":
    case "files":
    case "smallFiles":
    case "unusedFiles":
    case "timeMax":
    case "lastPublishedAt":
      return (row) => row[column];
    case "supervisors":
      return (row) => row.supervisors.length;
    case "fileBytes":
      return meanBytes;
    default:
      return (row) => (isInTrouble(row) ? 0 : 1);
  }
}

/** The mean size of its files in bytes; null: it has none. */
export function meanBytes({ bytes, files }: { bytes: number; files: number }): number | null {
  return files === 0 ? null : Number(bytes) / Number(files);
}

/** Orders values, unknown ones last whichever way it goes. */
function compared(one: Value, other: Value, isDown: boolean): number {
  if (one === null || other === null) {
    return one === other ? 0 : one === null ? 1 : -1;
  }
  const order = one < other ? -1 : one > other ? 1 : 0;
  return isDown ? -order : order;
}
