import { queryOptions, useQuery } from "@tanstack/react-query";
import { isDueSoon } from "./along";
import { type Got, get } from "./client";
import { lackOf, outageIn, outages } from "./outage";
import { OVERVIEW, queryClient } from "./query";
import { trail } from "./trail";

export type Overview = Got<"/api/v1/overview">;
export type AttentionItem = Overview["attention"][number];
export type Remedy = AttentionItem["remedies"][number];

const KNOWN = ["the last overview that knew the supervisors"];
/** The longest wait for all panels to heal before the band goes. */
const HEALING_MS = 3_000;

queryClient.setQueryDefaults(KNOWN, { gcTime: Number.POSITIVE_INFINITY });

const overviewQuery = queryOptions({
  queryKey: [OVERVIEW, {}],
  queryFn: async ({ signal }) => judged(get(OVERVIEW, {}, signal)),
});

/** Hands an overview on, and notes whether it lacks a leader or the database. */
async function judged(asked: Promise<Overview>): Promise<Overview> {
  try {
    return noted(await asked);
  } catch (problem) {
    const lack = lackOf(problem);
    if (lack !== null) {
      outages.begin(lack, null);
    }
    throw problem;
  }
}

function noted(overview: Overview): Overview {
  const outage = outageIn(overview);
  if (outage !== null) {
    outages.begin(outage.kind, outage.since);
    return overview;
  }
  queryClient.setQueryData(KNOWN, overview);
  trail.note(overview);
  if (outages.isOn()) {
    void heal();
  }
  return overview;
}

/** Whether a poll should bring the overview along. */
export function wantsOverview(): boolean {
  return isDueSoon(overviewQuery.queryKey);
}

/** Takes the overview that a poll has brought along; null: none. */
export function takeOverview(overview: Overview | null | undefined): void {
  if (overview) {
    queryClient.setQueryData(overviewQuery.queryKey, noted(overview));
  }
}

/** Asks for everything again; then the outage is over. */
async function heal(): Promise<void> {
  const others = queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== OVERVIEW && queryKey !== KNOWN,
  });
  await Promise.race([others, new Promise((resolve) => setTimeout(resolve, HEALING_MS))]);
  outages.end();
}

/**
 * How everything stands: the home page, the menu and the list of supervisors share the answer.
 * `outageMs`: how soon it is asked again during an outage.
 */
export function useOverview(pollMs: number, outageMs = pollMs) {
  return useQuery({
    ...overviewQuery,
    refetchInterval: () => (outages.isOn() ? outageMs : pollMs),
  });
}

/** The last overview that knew the supervisors; undefined: this page has seen none. */
export function lastKnownOverview(): Overview | undefined {
  return queryClient.getQueryData<Overview>(KNOWN);
}
