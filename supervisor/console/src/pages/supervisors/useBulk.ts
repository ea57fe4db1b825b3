import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { newKey } from "@/api/client";
import type { Problem } from "@/api/problem";
import type { Given, VerbPreview } from "@/components/action/action";
import { operationIn } from "@/components/action/followed";
import { isRefusal, outdatedBy } from "@/components/action/reading";
import { sayEnds } from "@/components/action/sayEnd";
import { eachOf, type Looked, looksOf, type Outcome } from "./bulk";
import { BULK, type BulkChange, type BulkVerb, changeOf } from "./bulkVerbs";

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

/** The same for many: what it would do to each, then each is done as it was shown, or not at all. */
export function useBulk(
  verb: BulkVerb,
  ids: readonly string[],
  given: Given,
  onOutcome: (outcome: Outcome) => void,
) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const keys = useRef(new Map<string, string>());
  // Where an act was refused because its preview is outdated: the one that came with the refusal.
  const newer = useRef(new Map<string, VerbPreview>());
  // What is done has to be what was looked at: a handoff names its groups.
  const changes = useRef(new Map<string, BulkChange>());
  const operations = useRef<string[]>([]);
  const client = useQueryClient();
  const act = async (id: string, preview: VerbPreview) => {
    const { digest } = newer.current.get(id) ?? preview;
    const request = `${id} ${digest}`;
    const key = keys.current.get(request) ?? newKey();
    keys.current.set(request, key);
    try {
      const change = changes.current.get(id) ?? (await changeOf(verb, id));
      const operation = operationIn(await change.run(key, { ...given, expect: digest }));
      if (operation !== null) {
        operations.current.push(operation);
      }
    } catch (problem) {
      forgetRefused(keys.current, request, problem as Problem);
      const now = outdatedBy<VerbPreview>(problem as Problem);
      if (now !== null) {
        newer.current.set(id, now);
      }
      throw problem;
    }
  };
  // Once, and not on events: what is done has to be what was read.
  const looks = useMutation<Looked[], Problem>({
    mutationFn: () =>
      looksOf(
        ids,
        async (id) => {
          const change = await changeOf(verb, id);
          changes.current.set(id, change);
          return change.preview();
        },
        sleep,
      ),
  });
  const { mutate: lookAgain } = looks;
  useEffect(() => lookAgain(), [lookAgain]);
  const run = useMutation<void, Problem, readonly string[]>({
    mutationFn: (some) => {
      const previews = previewsOf(looks.data ?? []);
      return eachOf(
        some.filter((id) => previews.has(id)),
        (id) => act(id, previews.get(id) as VerbPreview),
        (outcome) => {
          setOutcomes((before) => new Map(before).set(outcome.id, outcome));
          onOutcome(outcome);
        },
        sleep,
      );
    },
    onSuccess: () => void sayEnds(BULK[verb].word, operations.current.splice(0)),
    onSettled: () => client.invalidateQueries(),
  });
  return { looks: { ...looks, refetch: lookAgain }, run, outcomes };
}

/** The overlord answers a key once: a request that it refused is another one the next time. */
function forgetRefused(keys: Map<string, string>, request: string, problem: Problem): void {
  if (isRefusal(problem)) {
    keys.delete(request);
  }
}

function previewsOf(looks: readonly Looked[]): Map<string, VerbPreview> {
  return new Map(
    looks.flatMap(({ id, preview }) => (preview === null ? [] : [[id, preview] as const])),
  );
}
