/** Returns the names on the way of a JSON pointer (RFC 6901). */
export function partsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Writes the JSON pointer of a way. */
export function pointerOf(parts: readonly string[]): string {
  return parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
