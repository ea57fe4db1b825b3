import type { WrongField } from "@/api/problem";
import { type Edit, renameMember, setValue } from "../document/edit";
import { follow, markOf, type Range, treeOf } from "../document/tree";

/** Something that is wrong with a document, with its place and, where one is known, its mending. */
export type Trouble = WrongField & { range: Range; fix: Fix | null };

/** A change that mends it, and the words on its button. */
export type Fix = { label: string; edit: Edit };

/** Finds the places of what the overlord refuses in a text. */
export function troublesOf(text: string, errors: readonly WrongField[]): Trouble[] {
  const root = treeOf(text);
  return errors.map((error) => ({
    ...error,
    range: root === null ? { from: 0, to: 0 } : markOf(root, error.pointer, isUnknownName(error)),
    fix: fixOf(text, error),
  }));
}

/** Returns the change to the nearest known name; null: no name is near. */
export function fixOf(text: string, error: WrongField): Fix | null {
  const near = /^did you mean (.+)\?$/.exec(error.hint)?.[1];
  if (near === undefined) {
    return null;
  }
  const label = `Use ${near}`;
  if (isUnknownName(error)) {
    const edit = renameMember(text, error.pointer, near);
    return edit === null ? null : { label, edit };
  }
  const root = treeOf(text);
  const value = root === null ? null : follow(root, error.pointer);
  if (value?.isThere !== true || value.node.kind !== "string") {
    return null;
  }
  const edit = setValue(text, error.pointer, JSON.stringify(near));
  return edit === null ? null : { label, edit };
}

/** Whether the name of a member is what is not known, rather than its value. */
function isUnknownName({ message }: WrongField): boolean {
  return message.startsWith("unknown field ");
}
