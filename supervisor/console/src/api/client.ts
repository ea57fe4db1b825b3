import createClient, { type Middleware } from "openapi-fetch";
import { contact } from "./contact";
import { readJson, writeJson } from "./json";
import { noAnswer, Problem, problemOf } from "./problem";
import type { paths } from "./schema";

type Verb = "get" | "post" | "put" | "delete";
type Operation<P extends keyof paths, V extends Verb> = NonNullable<paths[P][V]>;
type Parameters<O, K extends "query" | "path"> = O extends { parameters: infer A }
  ? K extends keyof A
    ? A[K]
    : undefined
  : undefined;
type Answer<O> = O extends { responses: infer R } ? JsonOf<R[keyof R & (200 | 201 | 202)]> : never;
type JsonOf<R> = R extends { content: { "application/json": infer B } } ? B : undefined;
type BodyOf<O> = O extends { requestBody: { content: { "application/json": infer B } } }
  ? B
  : undefined;

/** The paths that take a verb. */
export type PathsOf<V extends Verb> = {
  [P in keyof paths]: paths[P] extends Record<V, { responses: unknown }> ? P : never;
}[keyof paths];
export type GetPath = PathsOf<"get">;
/** The JSON that a GET of a path answers. */
export type Got<P extends GetPath> = Answer<Operation<P, "get">>;
/** Parameters of a call; both parts may be left out where the operation has none that it needs. */
export type Params<P extends keyof paths, V extends Verb> = {
  query?: NonNullable<Parameters<Operation<P, V>, "query">>;
  path?: NonNullable<Parameters<Operation<P, V>, "path">>;
};

/** A page's longest wait for an answer: a leader that is asked by a follower has 30 s. */
const TIMEOUT_MS = 35_000;
/** Waits between the tries of a change, each with the same key. */
const AGAIN_MS = [500, 1_500, 3_000, 5_000];

const headers = {
  Accept: "application/problem+json, application/json",
  "X-Tidegate-Console": "1",
};

const judging: Middleware = {
  async onResponse({ response }) {
    const requestId = response.headers.get("X-Request-Id");
    // A proxy before the overlord answers without such an id, and knows nothing of its rows.
    if (requestId !== null) {
      contact.hear(response.headers.get("Date"));
    } else {
      contact.miss();
    }
    if (!response.ok) {
      const body = await response.text();
      const retryAfter = response.headers.get("Retry-After");
      throw problemOf(response.status, body, requestId, retryAfter);
    }
  },
  onError({ error, request }) {
    if (request.signal.aborted && !isTimeout(request.signal.reason)) {
      return undefined; // the page does not want the answer any more
    }
    contact.miss();
    return noAnswer(error);
  },
};

const client = createClient<paths>({ headers, bodySerializer: writeJson, cache: "no-cache" });
client.use(judging);

/** A JSON answer, and the tag of what it shows; null: it has none. */
export type Tagged<T> = { data: T; tag: string | null };

/** Calls an operation and returns its JSON, read without loss. Throws a Problem. */
async function call(verb: Verb, path: string, init: Record<string, unknown>): Promise<unknown> {
  return (await callTagged(verb, path, init)).data;
}

async function callTagged(
  verb: Verb,
  path: string,
  init: Record<string, unknown>,
): Promise<Tagged<unknown>> {
  const { data: text, response } = await request(verb, path, init, "text");
  const tag = response.headers.get("ETag");
  const isEmpty = typeof text !== "string" || text === "";
  return { data: isEmpty ? operationOf(response) : readAnswer(text), tag };
}

/** Druid's handoff answers without a body: its operation is named in a header alone. */
function operationOf({ headers }: Response): { operationId: string } | undefined {
  const operationId = headers.get("Tidegate-Operation");
  return operationId === null ? undefined : { operationId };
}

/** Reads a good answer. What is no JSON is of a proxy, which answers for an overlord that is away. */
function readAnswer(text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    contact.miss();
    throw noAnswer(error);
  }
}

/** Calls an operation; `as`: how its body is read. Throws a Problem. */
async function request(
  verb: Verb,
  path: string,
  init: Record<string, unknown>,
  as: "text" | "arrayBuffer" | "blob",
): Promise<{ data?: unknown; response: Response }> {
  const { query, path: inPath, signal, ...rest } = init;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const bound = signal instanceof AbortSignal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    return await client.request(
      verb,
      path as never,
      { ...rest, params: { query, path: inPath }, parseAs: as, signal: bound } as never,
    );
  } catch (error) {
    // A body that breaks off behind a good head, as when the overlord dies, is no Problem yet.
    if (error instanceof Problem || (bound.aborted && !isTimeout(bound.reason))) {
      throw error;
    }
    contact.miss();
    throw noAnswer(error);
  }
}

/** GETs a path. */
export async function get<P extends GetPath>(
  path: P,
  params: Params<P, "get"> = {},
  signal?: AbortSignal,
): Promise<Got<P>> {
  return (await call("get", path, { ...params, signal })) as Got<P>;
}

/** GETs a path whose answer is a file. */
export async function download<P extends GetPath>(
  path: P,
  params: Params<P, "get"> = {},
): Promise<Blob> {
  return (await request("get", path, { ...params }, "blob")).data as Blob;
}

/** GETs a path, with the tag that a change of it names by If-Match. */
export async function getTagged<P extends GetPath>(
  path: P,
  params: Params<P, "get"> = {},
  signal?: AbortSignal,
): Promise<Tagged<Got<P>>> {
  return (await callTagged("get", path, { ...params, signal })) as Tagged<Got<P>>;
}

/** POSTs a question: it changes nothing, so it has no key, and a refusal is handed on at once. */
export async function ask<P extends PathsOf<"post">>(
  path: P,
  init: Params<P, "post"> & { body?: BodyOf<Operation<P, "post">> },
  signal?: AbortSignal,
): Promise<Tagged<Answer<Operation<P, "post">>>> {
  const answer = await callTagged("post", path, { ...init, signal });
  return answer as Tagged<Answer<Operation<P, "post">>>;
}

/** GETs bytes, with the headers that say what they are of. */
export async function getBytes<P extends GetPath>(
  path: P,
  params: Params<P, "get">,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; headers: Headers }> {
  const { data, response } = await request("get", path, { ...params, signal }, "arrayBuffer");
  const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array();
  return { bytes, headers: response.headers };
}

/**
 * Sends a change under a key of its own.  A lost answer is asked for again, with the same key: the
 * overlord carries a key out once.
 */
export async function send<V extends "post" | "put" | "delete", P extends PathsOf<V>>(
  verb: V,
  path: P,
  init: Params<P, V> & { body?: BodyOf<Operation<P, V>>; key: string; ifMatch?: string },
): Promise<Answer<Operation<P, V>>> {
  const { key, ifMatch, ...rest } = init;
  const own = { "Idempotency-Key": key, ...(ifMatch ? { "If-Match": ifMatch } : {}) };
  for (const wait of [...AGAIN_MS, null]) {
    try {
      return (await call(verb, path, { ...rest, headers: own })) as Answer<Operation<P, V>>;
    } catch (problem) {
      if (!(problem instanceof Problem) || wait === null || !mayRepeat(problem)) {
        throw problem;
      }
      await new Promise((resolve) => setTimeout(resolve, waitOf(problem, wait)));
    }
  }
  throw new Error("unreachable: the last try throws");
}

/** Returns a new key of a change; also where the page has no secure context. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function mayRepeat(problem: Problem): boolean {
  return problem.status === 0 || problem.status === 503 || problem.kind.endsWith("key-in-use");
}

function waitOf(problem: Problem, wait: number): number {
  return Math.max(wait, Math.min(problem.retryAfter ?? 0, 10) * 1_000);
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}
