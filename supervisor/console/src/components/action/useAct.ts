import { notifications } from "@mantine/notifications";
import {
  type QueryKey,
  skipToken,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useReducer, useRef, useState } from "react";
import { newKey } from "@/api/client";
import type { Problem } from "@/api/problem";
import { POLL_MS } from "@/api/query";
import type { Action, Given } from "./action";
import {
  accept,
  type Digested,
  isDoneUnheard,
  isRefusal,
  outdatedBy,
  type Reading,
  receive,
  UNREAD,
} from "./reading";
import { lackOfReason } from "./reason";
import { sayEnd } from "./sayEnd";

type Plan<P> = {
  /** Has [word, {path: {supervisor_id}}, …] where events of a supervisor change the preview. */
  queryKey: QueryKey;
  /** Asks for a preview; null: there is none. */
  look: (() => Promise<P>) | null;
  /** The preview moves by itself with each record: it is read once, and the act does just that. */
  moves?: boolean;
  send: (key: string, given: Given) => Promise<unknown>;
  /** The sentence of the toast; by the answer, undefined if that got lost. */
  done: Action["done"];
  onClose: () => void;
};

/** A change in a dialog: what it would do, why, and the request that does just that. */
export type Act<P> = {
  looks: UseQueryResult<P, Problem>;
  reading: Reading<P>;
  /** The newest preview; null: there is none, or none yet. */
  shown: P | null;
  /** What goes with the request, as far as it is filled in. */
  given: Given;
  /** One of each confirmed preview and reason: kept over tries. */
  key: string;
  reason: string;
  setReason: (text: string) => void;
  typed: string;
  setTyped: (text: string) => void;
  /** Why it was not done; null where it was, or where `refusal` says it. */
  problem: Problem | null;
  /** It was not done, because it would do something else now. */
  refusal: Problem | null;
  isPending: boolean;
  /** No answer came: whether it was done is not known.  The same again does no harm. */
  isUnknown: boolean;
  /** The newest preview is the one that was read, and the reason is a good one. */
  isReady: boolean;
  go: () => void;
  acceptNewer: () => void;
};

type Step<P> = { seen: P } | "read";

/**
 * Shows what a change would do, looks again every 5 s and on events, and does what was read, or
 * nothing.
 */
export function useAct<P extends Digested>(plan: Plan<P>): Act<P> {
  const [reading, step] = useReducer(
    (before: Reading<P>, next: Step<P>) =>
      next === "read" ? accept(before) : receive(before, next.seen),
    UNREAD,
  );
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const keys = useRef(new Map<string, string>());
  // A second click comes before the first one is drawn.
  const isSent = useRef(false);
  const client = useQueryClient();
  const given = givenOf(reading.read, reason);
  const key = keyFor(keys.current, given);
  const end = (message: string) => {
    plan.onClose();
    notifications.show({ message });
    void client.invalidateQueries();
  };
  const act = useMutation<unknown, Problem>({
    mutationFn: () => plan.send(key, given),
    onSuccess: (answer) => {
      end(doneWords(plan.done, answer));
      void sayEnd(answer);
    },
    onError: (problem) => {
      if (isDoneUnheard(problem)) {
        // Many things that are changed one by one may not all be: the leader was cut off.
        end(`${doneWords(plan.done, undefined)} Its answer got lost: look at what there is now.`);
        return;
      }
      isSent.current = false;
      forgetRefused(keys.current, given, problem);
      const newer = outdatedBy<P>(problem);
      if (newer !== null) {
        setTyped("");
        step({ seen: newer });
      }
    },
  });
  const isUnknown = act.error?.passes ?? false;
  const looks = useLooks(plan, act.isPending || act.isSuccess || isUnknown);
  useEffect(() => {
    if (looks.data !== undefined) {
      step({ seen: looks.data });
    }
  }, [looks.data]);
  const isRefused = act.error !== null && outdatedBy(act.error) !== null;
  const isRead = plan.look === null || (reading.read !== null && reading.newer === null);
  const isReady = isRead && lackOfReason(reason) === null;
  return {
    looks,
    reading,
    shown: reading.newer ?? reading.read,
    given,
    key,
    reason,
    setReason,
    typed,
    setTyped,
    problem: isRefused ? null : act.error,
    refusal: isRefused ? act.error : null,
    isPending: act.isPending,
    isUnknown,
    isReady,
    go: () => {
      if (isReady && !isSent.current) {
        isSent.current = true;
        act.mutate();
      }
    },
    acceptNewer: () => {
      setTyped("");
      act.reset();
      step("read");
    },
  };
}

/** Looks again and again, but not while the change is under way: it would see the change itself. */
function useLooks<P>({ queryKey, look, moves = false }: Plan<P>, isHeld: boolean) {
  return useQuery<P, Problem>({
    queryKey,
    queryFn: look ?? skipToken,
    enabled: !isHeld,
    refetchInterval: moves ? false : POLL_MS,
    staleTime: moves ? Number.POSITIVE_INFINITY : 0,
    gcTime: 0,
    refetchOnWindowFocus: moves ? false : "always",
    refetchOnReconnect: moves ? false : "always",
  });
}

function doneWords(done: Action["done"], answer: unknown): string {
  return typeof done === "string" ? done : done(answer);
}

function givenOf(read: Digested | null, reason: string): Given {
  const why = reason.trim();
  return {
    ...(read?.digest ? { expect: read.digest } : {}),
    ...(why === "" ? {} : { reason: why }),
  };
}

/** The key stands for the request as it is: another digest or reason is another request. */
function keyFor(keys: Map<string, string>, given: Given): string {
  const request = requestOf(given);
  const key = keys.get(request) ?? newKey();
  keys.set(request, key);
  return key;
}

/** The overlord answers a key once: a request that it refused is another one the next time. */
function forgetRefused(keys: Map<string, string>, given: Given, problem: Problem): void {
  if (isRefusal(problem)) {
    keys.delete(requestOf(given));
  }
}

function requestOf({ expect = "", reason = "" }: Given): string {
  return `${expect} ${reason}`;
}
