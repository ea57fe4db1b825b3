// Signs that show nothing, or turn the text around them: C0, C1, soft hyphen, zero-width signs,
// bidi marks, embeddings and isolates, line separators, the byte order mark, tags.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Writes signs that cannot be seen as their code, so that no text of others can deceive. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
