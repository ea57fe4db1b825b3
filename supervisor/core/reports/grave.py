"""Warnings and errors in the text of a log, for the search over many logs.

2026-11-28T10:00:00.123456Z ERROR   the disk is full path=/data task=...
────────── time ──────────  level   ─────────── the line ───────────────
    a stack trace follows, shifted to the right: it is no line of its own
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum

__all__ = ["LINE_MAX", "GraveLevel", "GraveLine", "grave_lines"]

LINE_MAX = 1_000
"""Characters of a line that the search sees."""
_LINE = re.compile(rb"^(\S{10,40}) (WARNING|ERROR|CRITICAL) [^\n]*", re.MULTILINE)


class GraveLevel(IntEnum):
    """How grave a line is."""

    WARNING = 1
    ERROR = 2
    CRITICAL = 3


@dataclass(frozen=True)
class GraveLine:
    """A warning or an error of a log."""

    offset: int
    """Of its first byte, in the log."""
    level: GraveLevel
    text: str
    """The whole line with its time, cut at `LINE_MAX` characters."""

    def at(self, sent_at: datetime) -> datetime:
        """Return the line's own time, in a log that was sent at `sent_at`; that, if it has none.

        A log may be sent hours after its lines, as behind an outage of the brokers.  No line is
        from after its log: one that says so would lead all lists until then.
        """
        try:
            own = datetime.fromisoformat(self.text.partition(" ")[0])
            own = own.astimezone(UTC) if own.tzinfo is not None else sent_at
        except (ValueError, OverflowError):
            return sent_at
        return min(own, sent_at)


def grave_lines(content: bytes, offset: int) -> Iterator[GraveLine]:
    """Yield the warnings and errors of a piece of a log that begins at `offset`, in their order."""
    for match in _LINE.finditer(content):
        text = match[0].decode("ascii", "replace").rstrip("\r")[:LINE_MAX]
        yield GraveLine(offset + match.start(), GraveLevel[match[2].decode()], text)
