import { describe, expect, it } from "vitest";
import { type Loaded, NOTHING, type Piece, shownLines, wholeSigns, withPiece } from "./pieces";

const TEXT =
  "first\nzweite: äöü €\n𝄞 third, of four bytes\n\nfifth\nand the last one, which goes on";
const BYTES = new TextEncoder().encode(TEXT);

/** The piece that an overlord gives, of a text that is `size` bytes long by then. */
function piece(start: number, end: number, size = BYTES.length): Piece {
  return { start, size, bytes: BYTES.slice(start, end) };
}

function text(loaded: Loaded): string {
  return shownLines(loaded).join("\n");
}

describe("a text that comes in pieces", () => {
  it("says what is missing as its newest piece does", () => {
    const lost = withPiece(NOTHING, { ...piece(0, 10), missing: "10 bytes are stored" });
    const found = withPiece(lost, piece(10, BYTES.length));

    expect(lost.missing).toBe("10 bytes are stored");
    expect(found.missing).toBeUndefined();
    expect(text(found)).toBe(TEXT);
  });

  it("is the same wherever it is divided in two, read forwards", () => {
    for (let at = 0; at <= BYTES.length; at += 1) {
      const half = withPiece(NOTHING, piece(0, at, Math.max(at, 1)));
      const whole = withPiece(half, piece(at, BYTES.length));

      expect(text(whole)).toBe(TEXT);
      expect([whole.from, whole.to, whole.size]).toEqual([0, BYTES.length, BYTES.length]);
    }
  });

  it("is the same wherever it is divided in three, read backwards and then forwards", () => {
    for (let begin = 1; begin < BYTES.length; begin += 1) {
      for (let end = begin + 1; end <= BYTES.length; end += 3) {
        const middle = withPiece(NOTHING, piece(begin, end));
        const later = withPiece(middle, piece(end, BYTES.length));
        const first = withPiece(later, piece(0, BYTES.length));
        const older = withPiece(withPiece(middle, piece(0, end)), piece(end, BYTES.length));

        expect([text(first), text(older)]).toEqual([TEXT, TEXT]);
        expect(first.pieces.reduce((sum, { length }) => sum + length, 0)).toBe(BYTES.length);
      }
    }
  });

  it("shows no half of a line whose beginning is not loaded", () => {
    const loaded = withPiece(NOTHING, piece(3, 30));

    expect(shownLines(loaded)[0]).toBe("zweite: äöü €");
  });

  it("leaves what is loaded alone where a piece does not touch it", () => {
    const loaded = withPiece(NOTHING, piece(40, BYTES.length));

    expect(withPiece(loaded, piece(0, 10))).toEqual(loaded);
    expect(withPiece(loaded, piece(BYTES.length, BYTES.length))).toEqual(loaded);
  });

  it("begins anew with a text that has become shorter", () => {
    const loaded = withPiece(NOTHING, piece(0, BYTES.length));

    expect(text(withPiece(loaded, piece(0, 6, 6)))).toBe("first");
  });
});

describe("signs", () => {
  it("of several bytes are shown once they are whole", () => {
    const clef = new TextEncoder().encode("a𝄞");

    expect([1, 2, 3, 4, 5].map((n) => wholeSigns(clef.slice(0, n)).length)).toEqual([
      1, 1, 1, 1, 5,
    ]);
  });

  it("of terminals are left out", () => {
    const bytes = new TextEncoder().encode(
      "\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u001b\\\r\n",
    );

    expect(withPiece(NOTHING, { start: 0, size: bytes.length, bytes }).lines).toEqual(["red link"]);
  });
});
