import { applied, setValue } from "./document/edit";
import { baseOf } from "./document/tidy";
import { follow, treeOf } from "./document/tree";
import { isSame } from "./document/values";
import { PATHS } from "./form/fields";
import { read } from "./judge";

/** Returns the pointer below `/spec` of a field of the nested form, as the form names its fields. */
export function pathOf(pointer: string): string {
  return pointer === "/spec" ? "" : pointer.replace(/^\/spec(?=\/)/, "");
}

/** Whether a field of the form is the one that a pointer names, or a part of it. */
export function isLedTo(path: string, pointer: string | undefined): boolean {
  const named = pointer === undefined ? "" : pathOf(pointer);
  return named !== "" && (path === named || path.startsWith(`${named}/`));
}

/** Whether the form has the field that a pointer names. */
export function isInForm(pointer: string): boolean {
  return PATHS.some((path) => isLedTo(path, pointer));
}

/** Where a document has the field of a pointer, or the nearest thing around it. */
export function offsetOf(text: string, pointer: string): number {
  const root = treeOf(text);
  if (root === null) {
    return 0;
  }
  const { member, node } = follow(root, placeIn(text, pointer));
  return member?.from ?? node.from;
}

/**
 * Returns a document with the value that a step proposes for a field.  Null: the document has it, or
 * it cannot be put there, or the proposal is no JSON.
 */
export function proposed(text: string, pointer: string, json: string): string | null {
  const place = placeIn(text, pointer);
  const wanted = read(json);
  const root = treeOf(text);
  if ("error" in wanted || "error" in read(text) || root === null) {
    return null;
  }
  const { node, isThere } = follow(root, place);
  const now = isThere ? read(text.slice(node.from, node.to)) : null;
  if (now !== null && "document" in now && isSame(now.document, wanted.document)) {
    return null;
  }
  const edit = setValue(text, place, json);
  return edit === null ? null : applied(text, edit);
}

/** A document may have its sections at its top, without `spec` around them. */
function placeIn(text: string, pointer: string): string {
  const document = read(text);
  const isFlat = "document" in document && baseOf(document.document) === "";
  return isFlat ? pathOf(pointer) : pointer;
}
