import { visible } from "@/text/visible";
import type { Form } from "./search";

/** More of a part than so many bytes, or signs, is not drawn; it can be copied whole. */
export const SHOWN_MAX = 65_536;
const LINE = 16;

/** A key, a value or the value of a header; both null: there is none. */
export type Part = { text: string | null; base64: string | null };

/** What is shown of a part, and what is copied. */
export type Shown = { form: Form; drawn: string; whole: string; isCut: boolean };

/**
 * Writes a part in a form.  Bytes that are no UTF-8 have no text: they are written in hex.  Returns
 * null where there is no part at all.
 */
export function shownAs({ text, base64 }: Part, wanted: Form): Shown | null {
  if (base64 === null) {
    return null;
  }
  const form = wanted === "text" && text === null ? "hex" : wanted;
  if (form === "text") {
    const whole = text ?? "";
    return {
      form,
      drawn: visible(whole.slice(0, SHOWN_MAX)),
      whole,
      isCut: whole.length > SHOWN_MAX,
    };
  }
  if (form === "base64") {
    const isCut = base64.length > SHOWN_MAX;
    return { form, drawn: base64.slice(0, SHOWN_MAX), whole: base64, isCut };
  }
  const bytes = bytesOf(base64);
  const whole = [...bytes].map(pair).join("");
  return { form, drawn: dumpOf(bytes.slice(0, SHOWN_MAX)), whole, isCut: bytes.length > SHOWN_MAX };
}

/** Writes a part in one line, for a list. */
export function lineOf({ text, base64 }: Part): string | null {
  if (text !== null) {
    return visible(text).replace(/\s+/g, " ");
  }
  return base64 === null ? null : `0x${[...bytesOf(base64)].map(pair).join("")}`;
}

/** Writes bytes as lines of their place, 16 bytes, and the same as ASCII. */
export function dumpOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE) {
    const part = [...bytes.slice(at, at + LINE)];
    const signs = part.map((byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".",
    );
    const hex = part
      .map(pair)
      .join(" ")
      .padEnd(LINE * 3);
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex} ${signs.join("")}`);
  }
  return lines.join("\n");
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

function pair(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
