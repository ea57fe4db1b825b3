import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Problem } from "@/api/problem";
import { type Judged, judge } from "./judge";

/** Records that a check shows as rows. */
const SAMPLE = 20;
const TRIES = 15;

export type Checked = { text: string; judged: Judged };

export type Checking = {
  checked: Checked | undefined;
  problem: Problem | null;
  isRunning: boolean;
  /** Seconds until it is tried again, since others look at topics now; null: it need not wait. */
  waitsS: number | null;
  run: (text: string) => void;
};

/** Has the overlord judge a document, look at its topics, and read some records as rows. */
export function useChecking(): Checking {
  const [waitsS, setWaits] = useState<number | null>(null);
  const check = useMutation<Checked, Problem, string>({
    mutationFn: async (text) => ({ text, judged: await whenThereIsRoom(text, setWaits) }),
    onSettled: () => setWaits(null),
  });
  const { data: checked, error: problem, isPending: isRunning, mutate: run } = check;
  return { checked, problem, isRunning, waitsS, run };
}

async function whenThereIsRoom(
  text: string,
  onWait: (seconds: number | null) => void,
): Promise<Judged> {
  for (let tries = 1; ; tries++) {
    try {
      return await judge(text, { connect: true, sample: SAMPLE });
    } catch (problem) {
      const isFull = problem instanceof Problem && problem.kind === "too-many-looks";
      if (!isFull || tries === TRIES) {
        throw problem;
      }
      const seconds = problem.retryAfter ?? 1;
      onWait(seconds);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    }
  }
}
