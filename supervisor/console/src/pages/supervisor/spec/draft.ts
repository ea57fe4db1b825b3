import { useCallback, useState } from "react";

/** A stored version of a spec, as text, and the tag that a change of it names. */
export type Version = { text: string; tag: string; number: number | null };

/** What somebody has written, and the version that was there when it was begun. */
export type Draft = { text: string; base: Version };

export type Drafting = {
  /** The document that is edited. */
  text: string;
  base: Version;
  /** The newest stored version. */
  newest: Version;
  isChanged: boolean;
  /** Whether another version came since the draft was begun. */
  isOutdated: boolean;
  edit: (text: string) => void;
  discard: () => void;
  /** Goes on from the newest version, with another text. */
  rebase: (text: string) => void;
};

const NAME = "tidegate:draft:";

/** Keeps the draft of a supervisor's spec until it is stored; it outlives a reload of the tab. */
export function useDraft(id: string, newest: Version): Drafting {
  const [draft, setDraft] = useState(() => readDraft(id));
  const keep = useCallback(
    (next: Draft | null) => {
      writeDraft(id, next);
      setDraft(next);
    },
    [id],
  );
  const base = draft?.base ?? newest;
  return {
    text: draft?.text ?? newest.text,
    base,
    newest,
    isChanged: draft !== null,
    isOutdated: base.tag !== newest.tag,
    edit: (text) => keep(text === base.text ? null : { text, base }),
    discard: () => keep(null),
    rebase: (text) => keep(text === newest.text ? null : { text, base: newest }),
  };
}

/** Returns the number in a version's tag, such as "3-0123456789abcdef"; null: it has none. */
export function numberIn(tag: string): number | null {
  const digits = /^"(\d{1,9})-/.exec(tag)?.[1];
  return digits === undefined ? null : Number(digits);
}

function readDraft(id: string): Draft | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(NAME + id) ?? "null");
    return isDraft(stored) ? stored : null;
  } catch {
    return null;
  }
}

function writeDraft(id: string, draft: Draft | null): void {
  try {
    if (draft === null) {
      sessionStorage.removeItem(NAME + id);
    } else {
      sessionStorage.setItem(NAME + id, JSON.stringify(draft));
    }
  } catch {
    // Storage is full or switched off: the draft holds as long as the page.
  }
}

/** Takes what is well-formed: anything may lie in the storage. */
function isDraft(value: unknown): value is Draft {
  const { text, base } = (value ?? {}) as Partial<Draft>;
  return typeof text === "string" && typeof base?.text === "string" && typeof base.tag === "string";
}
