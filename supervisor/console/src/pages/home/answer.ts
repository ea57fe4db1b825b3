import type { OutageKind } from "@/api/outage";
import type { Overview } from "@/api/overview";
import { counted, exact } from "@/text/numbers";

type Answered = Pick<Overview, "totals" | "supervisors">;

/** The page's first line: the answer to "must I do something?". */
export function answerOf({ totals, supervisors }: Answered, outage?: OutageKind): string {
  if (outage !== undefined) {
    return outage === "database"
      ? "The metadata database does not answer."
      : "No overlord leads at the moment.";
  }
  const parts = [
    totals.broken > 0 ? `${exact(totals.broken)} broken` : "",
    totals.atRisk > 0 ? `${exact(totals.atRisk)} at risk` : "",
    totals.toKnow > 0 ? `${exact(totals.toKnow)} to know` : "",
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
export function statesOf({ supervisors, totals }: Answered): string {
  if (supervisors === null) {
    return "";
  }
  const { unhealthy, suspended, total } = supervisors;
  const parts = [
    unhealthy > 0 ? `${unhealthy} unhealthy` : "",
    suspended > 0 ? `${suspended} suspended` : "",
  ].filter((part) => part !== "");
  if (parts.length > 0) {
    return parts.join(", ");
  }
  if (total === 0) {
    return "";
  }
  return totals.broken + totals.atRisk > 0 ? "none in an unhealthy state" : "all healthy";
}
