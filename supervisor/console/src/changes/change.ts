import { newKey, type PathsOf, send } from "@/api/client";
import { writeJson } from "@/api/json";
import type { Action, Given, Verb, VerbPreview } from "@/components/action/action";

type Parts = {
  /** Names in the braces of the path -> their values. */
  at: Readonly<Record<string, string | number>>;
  body?: object;
  /** Further parameters of the query. */
  query?: Readonly<Record<string, string>>;
};

type Sending = Pick<Action, "request" | "takesReason" | "run">;

/** The parts of a change that send it with its reason. */
export function sendingOf<V extends Verb>(verb: V, path: PathsOf<V>, parts: Parts): Sending {
  const { at, body, query = {} } = parts;
  return {
    request: {
      verb,
      path: `${filled(path, at)}${queryOf(query)}`,
      ...(body === undefined ? {} : { body: writeJson(body) }),
    },
    takesReason: true,
    run: (key, given) => call(verb, path, parts, key, given),
  };
}

/** The parts of a change that has a dry run: it is sent with the digest of what was confirmed. */
export function previewedOf<V extends Verb>(
  verb: V,
  path: PathsOf<V>,
  parts: Parts,
): Sending & Required<Pick<Action, "preview">> {
  return {
    ...sendingOf(verb, path, parts),
    preview: async () => {
      const answer = await call(verb, path, parts, newKey(), { dryRun: "true" });
      return answer as VerbPreview;
    },
  };
}

function call<V extends Verb>(
  verb: V,
  path: PathsOf<V>,
  { at, body, query }: Parts,
  key: string,
  given: Given | { dryRun: "true" },
): Promise<unknown> {
  // What each path takes is known to the callers alone: the types of all of them are too many.
  const init = { path: at, query: { ...query, ...given }, body, key };
  return send(verb, path, init as never);
}

function filled(path: string, at: Parts["at"]): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(at[name] ?? ""));
}

function queryOf(query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? "" : `?${text}`;
}
