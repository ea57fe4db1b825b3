"""Bytes of a log out of stored chunks, which may overlap, leave holes, or be unreadable.

stored      [0 ── a ── 50)  [50 ── b: damaged ── 90)        [120 ── d ── 150)
                  [30 ─────── c ──────── 70)
read        [0 ─────────────────────────── 70)[70 missing 90)       [120 ─── 150)
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from supervisor.ports.reports.logs import StoredBytes

__all__ = ["StoredPiece", "read_pieces"]


@dataclass(frozen=True)
class StoredPiece:
    """A stored chunk, by its place in the log; in bytes."""

    offset: int
    size: int
    load: Callable[[], bytes | str]
    """Return its content, or why it cannot be read."""

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + self.size


def read_pieces(pieces: Iterable[StoredPiece], offset: int, limit: int) -> list[StoredBytes]:
    """Return the bytes from `offset` on, missing ones counted, `limit` at most.

    `pieces` come by their offset; no more of them are taken, and loaded, than `limit` needs.
    """
    joined = _Joined()
    if limit <= 0:
        return []
    for part in _parts(pieces, offset):
        joined.add(part, limit - joined.size)
        if joined.size >= limit:
            break
    return joined.parts()


def _parts(pieces: Iterable[StoredPiece], offset: int) -> Iterator[StoredBytes]:
    """Yield each stored byte from `offset` on once; a byte is missing if no piece with it loads."""
    unread: list[tuple[StoredPiece, str]] = []
    """What could not be loaded, and may be covered by a later piece."""
    for piece in pieces:
        if piece.end <= offset:
            continue
        if piece.offset > offset:
            yield from _missing(unread, offset, piece.offset)
            offset = piece.offset
        content = piece.load()
        if isinstance(content, str):
            unread.append((piece, content))
        else:
            yield StoredBytes(offset, content[offset - piece.offset :])
            offset = piece.end
    yield from _missing(unread, offset, max((piece.end for piece, _ in unread), default=0))


def _missing(
    unread: Iterable[tuple[StoredPiece, str]], offset: int, upto: int
) -> Iterator[StoredBytes]:
    for piece, why in unread:
        end = min(piece.end, upto)
        if end > offset:
            # Pieces come by their offset: before it nothing is stored, or it was yielded.
            begin = max(piece.offset, offset)
            yield StoredBytes(begin, b"", why, end - begin)
            offset = end


class _Joined:
    """Parts without a hole between them as one."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of all parts, missing ones counted."""
        self._end = -1
        """Behind the last part."""
        self._parts: list[tuple[StoredBytes, list[bytes]]] = []

    def add(self, part: StoredBytes, room: int) -> None:
        """Add at most `room` bytes of a part that follows all others."""
        content, missing = part.content[:room], min(part.missing_bytes, room)
        size = len(content) + missing
        if not size:
            return
        follows = self._parts and self._end == part.offset
        if follows and self._parts[-1][0].missing == part.missing:
            last, contents = self._parts[-1]
            contents.append(content)
            longer = replace(last, missing_bytes=last.missing_bytes + missing)
            self._parts[-1] = longer, contents
        else:
            self._parts.append((replace(part, content=b"", missing_bytes=missing), [content]))
        self.size += size
        self._end = part.offset + size

    def parts(self) -> list[StoredBytes]:
        """Return them."""
        return [replace(part, content=b"".join(contents)) for part, contents in self._parts]
