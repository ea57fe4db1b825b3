import { NEEDED } from "tidegate:permissions";
import type { ReactNode } from "react";
import type { PathsOf } from "@/api/client";
import type { Permission } from "@/api/me";
import type { components } from "@/api/schema";
import { quoted } from "@/text/shell";

export type Verb = "post" | "put" | "delete";

/** What a verb would do, as the overlord's dry run answers it. */
export type VerbPreview = components["schemas"]["VerbPreview"];

/** What goes with a change: why, and the digest of the preview that was confirmed. */
export type Given = { reason?: string; expect?: string };

/** A change that a dialog explains before it is sent. */
export type Action = {
  /** Verb and object: "Suspend orders". */
  title: string;
  /** The word on the button. */
  verb: string;
  /** What will happen; a preview says it exactly, in its place. */
  effect: ReactNode;
  /** How it is undone, or that it cannot be; a preview says it in its place. */
  undo: string;
  /** The same by the command line: without reason and digest, which are added, or with them. */
  command: string | ((given: Given) => string);
  /** The same request, without reason and digest. */
  request: Requested;
  /** What has to be typed to confirm it, where records are lost or read again: their number. */
  confirm?: string;
  /** Whether it takes a reason; then `run` has to send it. */
  takesReason?: boolean;
  /** The supervisor whose events change what it would do. */
  supervisor?: string;
  /** Asks what it would do; the act then does just that, or nothing. */
  preview?: () => Promise<VerbPreview>;
  /** Sends it under a key; the key is kept over tries. */
  run: (key: string, given: Given) => Promise<unknown>;
  /** The sentence of the toast once it is accepted; by its answer, undefined if that got lost. */
  done: string | ((answer: unknown) => string);
};

export type Requested = { verb: Verb; path: string; body?: string };

/** The permission that a change needs, as the overlord's OpenAPI says it. */
export function neededFor<V extends Verb>(verb: V, path: PathsOf<V>): Permission | null {
  return NEEDED[`${verb} ${path}`] ?? null;
}

/** The same request by curl, for a shell. */
export function curlOf(
  { verb, path, body }: Requested,
  origin: string,
  key: string,
  given: Given = {},
): string {
  const parts = [
    "curl",
    `-X ${verb.toUpperCase()}`,
    '-H "Authorization: Bearer $TIDEGATE_TOKEN"',
    `-H 'Idempotency-Key: ${key}'`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${inQuotes(body)}`]),
    inQuotes(origin + withGiven(path, given)),
  ];
  return parts.join(" ");
}

/** A command with its digest and its reason. */
export function commandWith(command: Action["command"], given: Given): string {
  if (typeof command === "function") {
    return command(given);
  }
  const { reason, expect } = given;
  const options = [
    ...(expect === undefined ? [] : [`--expect ${expect}`]),
    ...(reason === undefined ? [] : [`--reason ${quoted(reason)}`]),
  ];
  return [command, ...options].join(" ");
}

function withGiven(path: string, given: Given): string {
  const pairs = Object.entries(given).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  );
  if (pairs.length === 0) {
    return path;
  }
  return `${path}${path.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
