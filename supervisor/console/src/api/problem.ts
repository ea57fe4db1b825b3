import { readJson } from "./json";

/** One thing that is wrong with a request: where, what, and what would be right. */
export type WrongField = { pointer: string; message: string; hint: string };

/** An answer that is an error (RFC 9457), or the lack of any answer. */
export class Problem extends Error {
  override readonly name = "Problem";
  constructor(
    /** HTTP status; 0: no answer came. */
    readonly status: number,
    /** The last word of the type, such as `not-the-leader`. */
    readonly kind: string,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly WrongField[] = [],
    readonly requestId: string | null = null,
    /** Seconds after which the same request may go through. */
    readonly retryAfter: number | null = null,
    /** Further facts of its kind, such as the new preview of an outdated one. */
    readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail || title);
  }

  /** Whether the same request may go through later, as it is. */
  get passes(): boolean {
    return this.status === 0 || this.status >= 500 || [408, 429].includes(this.status);
  }
}

/** Returns the problem of an answer, whatever its body holds. */
export function problemOf(
  status: number,
  body: string,
  requestId: string | null,
  retryAfter: string | null,
): Problem {
  const facts = objectOf(body);
  const seconds = retryAfter === null ? Number.NaN : Number.parseInt(retryAfter, 10);
  return new Problem(
    status,
    textOf(facts.type)?.split("/").at(-1) ?? "unknown",
    textOf(facts.title) ?? `The answer is ${status}`,
    textOf(facts.detail) ?? (body.length > 0 && body.length < 500 ? body : ""),
    fieldsOf(facts.errors),
    requestId,
    Number.isNaN(seconds) ? null : seconds,
    facts,
  );
}

/** Returns the problem of a request without an answer. */
export function noAnswer(reason: unknown): Problem {
  const detail = "The overlord did not answer. The page goes on by itself once it does.";
  return new Problem(0, "no-answer", "No answer", detail, [], null, null, { reason });
}

function objectOf(body: string): Record<string, unknown> {
  try {
    const value = readJson(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function fieldsOf(value: unknown): WrongField[] {
  if (!Array.isArray(value)) {
    return [];
  }
  return value.filter(isField);
}

function isField(value: unknown): value is WrongField {
  const each = value as Partial<Record<keyof WrongField, unknown>> | null;
  return (
    typeof each === "object" &&
    [each?.pointer, each?.message, each?.hint].every((text) => typeof text === "string")
  );
}
