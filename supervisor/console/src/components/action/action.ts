import { NEEDED } from "tidegate:permissions";
import type { ReactNode } from "react";
import type { PathsOf } from "@/api/client";
import type { Permission } from "@/api/me";

type Verb = "post" | "put" | "delete";

/** A change that a dialog explains before it is sent. */
export type Action = {
  /** Verb and object: "Suspend orders". */
  title: string;
  /** The word on the button. */
  verb: string;
  /** What will happen. */
  effect: ReactNode;
  /** How it is undone, or that it cannot be. */
  undo: string;
  /** The same by the command line. */
  command: string;
  request: { verb: Verb; path: string; body?: string };
  /** What has to be typed to confirm it, where records are lost or read again: their number. */
  confirm?: string;
  /** Sends it under a key; the key is drawn when the dialog opens, and kept over tries. */
  run: (key: string) => Promise<unknown>;
  /** The sentence of the toast once it is accepted. */
  done: string;
};

/** The permission that a change needs, as the overlord's OpenAPI says it. */
export function neededFor<V extends Verb>(verb: V, path: PathsOf<V>): Permission | null {
  return NEEDED[`${verb} ${path}`] ?? null;
}

/** The same request by curl, for a shell. */
export function curlOf(
  { verb, path, body }: Action["request"],
  origin: string,
  key: string,
): string {
  const parts = [
    "curl",
    `-X ${verb.toUpperCase()}`,
    '-H "Authorization: Bearer $TIDEGATE_TOKEN"',
    `-H 'Idempotency-Key: ${key}'`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`]),
    quoted(origin + path),
  ];
  return parts.join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
