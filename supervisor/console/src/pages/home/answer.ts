import type { OutageKind } from "@/api/outage";
import type { Overview } from "@/api/overview";
import { known } from "@/text/known";
import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";

type Counted = Pick<Overview, "totals" | "supervisors">;
type Answered = Counted & Pick<Overview, "attention">;
type Severity = Overview["attention"][number]["severity"];

/** What an item may be about, in words; it is a thing where there is no word for it. */
const NOUNS: Readonly<Record<string, string>> = {
  supervisor: "supervisor",
  worker: "worker",
  queue: "queue",
  export: "export",
  persister: "persister",
  principal: "token",
};
/** What an item about the cluster is about. */
const OF_CLUSTER: Readonly<Record<string, string>> = {
  "flows-stand-still": "flows",
  "dead-inputs": "flows",
  "executions-failed": "flows",
  "archive-behind": "the archive",
  "no-workers": "all workers",
};
/** So many kinds of things have their words; more are counted together. */
const KINDS_MAX = 2;
/** A longer name is counted: the heading has one line for all. */
const NAME_MAX = 40;

/** The page's first line: the answer to "must I do something?". */
export function answerOf(
  { totals, supervisors, attention }: Answered,
  outage?: OutageKind,
): string {
  if (outage !== undefined) {
    return outage === "database"
      ? "The metadata database does not answer."
      : "No overlord leads at the moment.";
  }
  const parts = [
    totals.broken > 0 ? `${thingsOf(attention, "broken", totals.broken)} broken` : "",
    totals.atRisk > 0 ? `${thingsOf(attention, "at-risk", totals.atRisk)} at risk` : "",
    totals.toKnow > 0 ? `${counted(totals.toKnow, "thing")} to know` : "",
  ].filter((part) => part !== "");
  if (parts.length > 0) {
    return parts.join(" · ");
  }
  if (supervisors === null) {
    return "How the supervisors do is not known at the moment.";
  }
  if (supervisors.unhealthy > 0) {
    return `${exact(supervisors.unhealthy)} of ${counted(supervisors.total, "supervisor")} unhealthy`;
  }
  return calmOf(supervisors);
}

/** What the items of a severity are about: its name if it is one thing, else how many of what. */
function thingsOf(items: Overview["attention"], severity: Severity, total: number): string {
  const mine = items.filter((item) => item.severity === severity);
  const kinds = [...new Set(mine.map(({ about }) => about.kind))];
  const words = kinds.map((kind) => wordsOf(mine.filter(({ about }) => about.kind === kind)));
  return mine.length < total || kinds.length > KINDS_MAX || words.includes(undefined)
    ? counted(total, "thing")
    : words.join(" and ");
}

/** What items about things of one kind are about; undefined: there is no word for it. */
function wordsOf(items: Overview["attention"]): string | undefined {
  const [first] = items;
  const ids = [...new Set(items.map(({ about }) => about.id))];
  const [id = ""] = ids;
  switch (first?.about.kind) {
    case undefined:
      return undefined;
    case "cluster": {
      const words = [...new Set(items.map(({ kind }) => known(OF_CLUSTER, kind)))];
      return words.length === 1 ? words[0] : undefined;
    }
    case "brokers":
      return ids.length === 1 && id.length <= NAME_MAX
        ? `Kafka at ${visible(id)}`
        : counted(ids.length, "Kafka cluster");
    default: {
      const noun = known(NOUNS, first?.about.kind ?? "");
      if (noun === undefined) {
        return undefined;
      }
      return ids.length === 1 && id.length <= NAME_MAX
        ? `${noun} ${visible(id)}`
        : counted(ids.length, noun);
    }
  }
}

/** A suspended supervisor reads nothing: nobody may take it for one that is up to date. */
function calmOf({ total, suspended }: NonNullable<Overview["supervisors"]>): string {
  if (total === 0) {
    return "No supervisor yet.";
  }
  if (suspended === 0) {
    return total === 1
      ? "The one supervisor is healthy."
      : `All ${counted(total, "supervisor")} are healthy.`;
  }
  if (suspended === total) {
    return total === 1
      ? "The one supervisor is suspended: nothing is read."
      : `All ${counted(total, "supervisor")} are suspended: nothing is read.`;
  }
  return `${exact(total - suspended)} of ${counted(total, "supervisor")} are healthy, ${exact(suspended)} suspended.`;
}

/**
 * The states of the supervisors in short.  What needs somebody may be a worker: then "all healthy"
 * would contradict the page's first line.
 */
export function statesOf({ supervisors, totals }: Counted): string {
  if (supervisors === null) {
    return "";
  }
  const { unhealthy, suspended, total } = supervisors;
  const parts = [
    unhealthy > 0 ? `${exact(unhealthy)} unhealthy` : "",
    suspended > 0 ? `${exact(suspended)} suspended` : "",
  ].filter((part) => part !== "");
  if (parts.length > 0) {
    return parts.join(", ");
  }
  if (total === 0) {
    return "";
  }
  return totals.broken + totals.atRisk > 0 ? "none in an unhealthy state" : "all healthy";
}
