import { send } from "@/api/client";
import { readJson } from "@/api/json";
import { quoted } from "@/changes/supervisors";
import type { Spec } from "../judge";

export const APPLY = "/druid/indexer/v1/supervisor";
export const ROLLBACK = "/api/v1/supervisors/{supervisor_id}/rollback";

type Curl = { path: string; query: Record<string, string>; tag: string; key: string; data: string };

/** Stores a document as the next version, if the newest one has this tag. */
export function store(text: string, tag: string, reason: string, key: string): Promise<unknown> {
  const body = readJson(text) as Spec;
  return send("post", APPLY, { query: queryOf(reason), body, key, ifMatch: tag });
}

/** Stores the spec of an earlier version once more; a terminated supervisor has no tag. */
export function rollBack(
  id: string,
  version: number,
  tag: string | null,
  reason: string,
  key: string,
): Promise<unknown> {
  const path = { supervisor_id: id };
  const ifMatch = tag === null ? {} : { ifMatch: tag };
  return send("post", ROLLBACK, {
    path,
    query: queryOf(reason),
    body: { version },
    key,
    ...ifMatch,
  });
}

export function storeCommand(id: string, reason: string): string {
  return `tidegate supervisor apply -f ${fileOf(id)}${reasonOption(reason)}`;
}

export function rollBackCommand(id: string, version: number, reason: string): string {
  return `tidegate supervisor rollback ${quoted(id)} --to ${version}${reasonOption(reason)}`;
}

export function storeCurl(id: string, tag: string, reason: string, key: string): string {
  return curlOf({ path: APPLY, query: queryOf(reason), tag, key, data: `@${fileOf(id)}` });
}

export function rollBackCurl(
  id: string,
  version: number,
  tag: string | null,
  reason: string,
  key: string,
): string {
  const path = ROLLBACK.replace("{supervisor_id}", encodeURIComponent(id));
  const data = JSON.stringify({ version });
  return curlOf({ path, query: queryOf(reason), tag: tag ?? "", key, data });
}

/** The name of the file that the commands read. */
export function fileOf(id: string): string {
  return `${/^[\w.-]+$/.test(id) ? id : "spec"}.json`;
}

function queryOf(reason: string): { reason?: string } {
  return reason === "" ? {} : { reason };
}

function reasonOption(reason: string): string {
  return reason === "" ? "" : ` --reason ${quoted(reason)}`;
}

function curlOf({ path, query, tag, key, data }: Curl): string {
  const search = new URLSearchParams(query).toString();
  const parts = [
    "curl -X POST",
    '-H "Authorization: Bearer $TIDEGATE_TOKEN"',
    `-H 'Idempotency-Key: ${key}'`,
    ...(tag === "" ? [] : [`-H ${quoted(`If-Match: ${tag}`)}`]),
    "-H 'Content-Type: application/json'",
    `-d ${quoted(data)}`,
    quoted(location.origin + path + (search === "" ? "" : `?${search}`)),
  ];
  return parts.join(" ");
}
