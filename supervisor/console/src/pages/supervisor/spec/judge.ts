import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ask } from "@/api/client";
import { readJson } from "@/api/json";
import type { Problem } from "@/api/problem";
import type { components } from "@/api/schema";

export type Judged = components["schemas"]["DryRunView"];
export type SpecChange = Judged["changes"][number];
export type Spec = components["schemas"]["SupervisorSpec"];

export const VALIDATE = "/api/v1/supervisors/validate";
const SETTLE_MS = 500;

/** A text read as JSON, or why it is none. */
export type Read = { document: unknown } | { error: string };

export function read(text: string): Read {
  try {
    return { document: readJson(text) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

export type Judging = {
  read: Read;
  /** The overlord's judgement; of an earlier text while `isSettled` is false. */
  judged: Judged | undefined;
  problem: Problem | null;
  isSettled: boolean;
};

/** Has the overlord judge a document, half a second after the last key; Kafka is not asked. */
export function useJudging(text: string, tag: string, isAllowed: boolean): Judging {
  const settled = useSettled(text);
  const current = read(settled);
  const query = useQuery<Judged, Problem>({
    queryKey: [VALIDATE, { settled, tag }],
    queryFn: ({ signal }) => judge(settled, { connect: false }, signal),
    enabled: isAllowed && "document" in current,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  const isSettled = settled === text && query.data !== undefined && !query.isPlaceholderData;
  return { read: read(text), judged: query.data, problem: query.error, isSettled };
}

/** Asks what a POST of a document would do; nothing is changed. */
export async function judge(
  text: string,
  query: { connect: boolean; sample?: number },
  signal?: AbortSignal,
): Promise<Judged> {
  return (await ask(VALIDATE, { query, body: readJson(text) as Spec }, signal)).data;
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
