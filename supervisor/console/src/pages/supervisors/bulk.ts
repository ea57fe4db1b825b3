import { Problem } from "@/api/problem";
import type { VerbPreview } from "@/components/action/action";
import { confirmOf } from "@/components/action/effect";
import { outdatedBy } from "@/components/action/reading";

export type Outcome = { id: string; problem: Problem | null };

/** What a change would do to one of many; with a problem it would do nothing to it. */
export type Looked = Outcome & { preview: VerbPreview | null };

const AT_ONCE = 4;
const REST_MS = 2_000;

/**
 * Does the same to each id, 4 at a time.  After a 429 all wait as long as the overlord says.
 * `onOutcome` hears of each that has ended.
 */
export async function eachOf(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  onOutcome: (outcome: Outcome) => void,
  sleep: (millis: number) => Promise<void>,
): Promise<void> {
  const left = [...ids];
  let rest: Promise<void> = Promise.resolve();
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      await rest;
      try {
        await act(id);
        onOutcome({ id, problem: null });
      } catch (problem) {
        if (!(problem instanceof Problem)) {
          throw problem;
        }
        if (problem.status === 429) {
          left.unshift(id);
          rest = sleep((problem.retryAfter ?? 0) * 1_000 || REST_MS);
        } else {
          onOutcome({ id, problem });
        }
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Asks of each id what would be done to it; the answers are in the order of the ids. */
export async function looksOf(
  ids: readonly string[],
  look: (id: string) => Promise<VerbPreview>,
  sleep: (millis: number) => Promise<void>,
): Promise<Looked[]> {
  const previews = new Map<string, VerbPreview>();
  const problems = new Map<string, Problem | null>();
  await eachOf(
    ids,
    async (id) => void previews.set(id, await look(id)),
    ({ id, problem }) => problems.set(id, problem),
    sleep,
  );
  return ids.map((id) => ({
    id,
    preview: previews.get(id) ?? null,
    problem: problems.get(id) ?? null,
  }));
}

/** The failed ones first, each part by id. */
export function worstFirst<O extends Outcome>(outcomes: readonly O[]): O[] {
  const rank = ({ problem }: Outcome) => (problem === null ? 1 : 0);
  return [...outcomes].sort(
    (one, other) => rank(one) - rank(other) || one.id.localeCompare(other.id),
  );
}

/** Whether it was refused because records would be lost now: another try has to be confirmed anew. */
export function losesMoreNow({ problem }: Outcome): boolean {
  const newer = problem === null ? null : outdatedBy<VerbPreview>(problem);
  return newer !== null && confirmOf(newer) !== null;
}
