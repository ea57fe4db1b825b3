/** A part of a text: bytes of a file of `size` bytes, from `start` on. */
export type Piece = {
  start: number;
  size: number;
  bytes: Uint8Array<ArrayBuffer>;
  /** What of the text is not there, and why; absent: nothing is known to be missing. */
  missing?: string | undefined;
};

/**
 * What is loaded of a text, without a gap.
 *
 *     0 ········ from ──head──┃── lines ──┃──tail── to ········ size
 *
 * Lines are split between bytes, at line breaks: no sign of several bytes is ever torn.
 */
export type Loaded = {
  from: number;
  to: number;
  /** The size of the whole text, as it was last heard. */
  size: number;
  pieces: readonly Uint8Array<ArrayBuffer>[];
  /** The end of a line whose beginning is not loaded. */
  head: Uint8Array<ArrayBuffer>;
  lines: readonly string[];
  /** The beginning of a line that has no end yet. */
  tail: Uint8Array<ArrayBuffer>;
  /** As the newest piece says it. */
  missing?: string | undefined;
};

const BREAK = 0x0a;
const NONE = new Uint8Array();
export const NOTHING: Loaded = {
  from: 0,
  to: 0,
  size: 0,
  pieces: [],
  head: NONE,
  lines: [],
  tail: NONE,
};

const decoder = new TextDecoder();

/** Returns a text with a piece more: behind it, before it, or in its place if it was replaced. */
export function withPiece(loaded: Loaded, piece: Piece): Loaded {
  return { ...textWith(loaded, piece), missing: piece.missing };
}

function textWith(loaded: Loaded, piece: Piece): Loaded {
  const end = piece.start + piece.bytes.length;
  if (loaded.pieces.length === 0 || piece.size < loaded.to) {
    return begun(piece);
  }
  const { size } = piece;
  if (piece.start < loaded.from && end >= loaded.from) {
    return before(
      { ...loaded, size },
      piece.start,
      piece.bytes.subarray(0, loaded.from - piece.start),
    );
  }
  if (piece.start >= loaded.from && piece.start <= loaded.to && end > loaded.to) {
    return behind({ ...loaded, size }, piece.bytes.subarray(loaded.to - piece.start));
  }
  return { ...loaded, size };
}

function begun({ start, size, bytes }: Piece): Loaded {
  const split = splitAt(bytes, start > 0);
  return { from: start, to: start + bytes.length, size, pieces: [bytes], ...split };
}

function before(loaded: Loaded, from: number, bytes: Uint8Array<ArrayBuffer>): Loaded {
  const { head, tail, lines } = loaded;
  const pieces = [bytes, ...loaded.pieces];
  if (!isLine(head)) {
    // The loaded part is of one line: it has no lines of its own yet.
    return { ...loaded, from, pieces, ...splitAt(joined(bytes, head), from > 0) };
  }
  const older = splitAt(joined(bytes, head), from > 0);
  return { ...loaded, from, pieces, head: older.head, lines: [...older.lines, ...lines], tail };
}

function behind(loaded: Loaded, bytes: Uint8Array<ArrayBuffer>): Loaded {
  const to = loaded.to + bytes.length;
  const pieces = [...loaded.pieces, bytes];
  if (loaded.from > 0 && !isLine(loaded.head)) {
    return { ...loaded, to, pieces, ...splitAt(joined(loaded.head, bytes), true) };
  }
  const { lines, tail } = splitAt(joined(loaded.tail, bytes), false);
  return { ...loaded, to, pieces, lines: [...loaded.lines, ...lines], tail };
}

function isLine(bytes: Uint8Array): boolean {
  return bytes.at(-1) === BREAK;
}

/** Splits bytes into the rest of a line before, if they begin within one, whole lines, and a rest. */
function splitAt(
  bytes: Uint8Array<ArrayBuffer>,
  isWithin: boolean,
): Pick<Loaded, "head" | "lines" | "tail"> {
  const first = isWithin ? bytes.indexOf(BREAK) + 1 : 0;
  if (isWithin && first === 0) {
    return { head: bytes, lines: [], tail: NONE };
  }
  const last = bytes.lastIndexOf(BREAK) + 1;
  const whole = bytes.subarray(first, Math.max(first, last));
  return {
    head: bytes.subarray(0, first),
    lines: whole.length === 0 ? [] : linesOf(decoder.decode(whole.subarray(0, -1))),
    tail: bytes.subarray(Math.max(first, last)),
  };
}

function linesOf(text: string): string[] {
  return text.split("\n").map(plain);
}

/** All lines that can be shown; the last one may go on. */
export function shownLines({ lines, tail }: Loaded): readonly string[] {
  const rest = wholeSigns(tail);
  return rest.length === 0 ? lines : [...lines, plain(decoder.decode(rest))];
}

/** Cuts off the bytes of a last sign that is not whole (UTF-8). */
export function wholeSigns(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < length ? bytes.subarray(0, -back) : bytes;
    }
    if (byte < 0x80) {
      return bytes;
    }
  }
  return bytes;
}

// Escape sequences of terminals: CSI with its end, OSC up to BEL or ST, those of two signs.
const ANSI =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

/** A line without colours, and without the carriage return before its end. */
function plain(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.includes("\u001b") ? text.replace(ANSI, "") : text;
}

function joined(
  one: Uint8Array<ArrayBuffer>,
  other: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  if (one.length === 0) {
    return other;
  }
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
