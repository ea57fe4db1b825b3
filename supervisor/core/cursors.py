"""Cursors: where a list that is read page by page goes on.

Opaque to clients, so that what it says may change: a version, which list, a position, a checksum.
"""

import base64
import binascii
import zlib
from collections.abc import Sequence
from typing import TypeVar

from supervisor.core.errors import Refused

_VERSION = "1"
_LENGTH_MAX = 200
_PARTS = 4
_DIGITS_MAX = 18

Row = TypeVar("Row")


class BadCursor(Refused):
    """A cursor that no answer of this list gave."""

    def __init__(self, list_name: str) -> None:
        """Say what to do."""
        super().__init__(
            f"cursor: this is no cursor of {list_name}: give the `next` of the page before, "
            "unchanged, or leave it out to begin anew"
        )


def write_cursor(list_name: str, position: int) -> str:
    """Return the text that stands for `position` (0 or more) in a list."""
    assert position >= 0, "positions count from 0"
    said = f"{_VERSION}.{list_name}.{position}"
    whole = f"{said}.{zlib.crc32(said.encode()):08x}"
    return base64.urlsafe_b64encode(whole.encode()).decode().rstrip("=")


def read_cursor(list_name: str, text: str | None) -> int | None:
    """Return the position; None for none.

    Raises:
        BadCursor: it was not written by `write_cursor` for this list.
    """
    if text is None:
        return None
    if len(text) > _LENGTH_MAX:
        raise BadCursor(list_name)
    try:
        whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        parts = whole.decode("ascii").split(".")
    except (binascii.Error, ValueError):
        raise BadCursor(list_name) from None
    digits = parts[2] if len(parts) == _PARTS else ""
    if not digits.isdigit() or len(digits) > _DIGITS_MAX:
        raise BadCursor(list_name)
    if write_cursor(list_name, int(digits)) != text:
        raise BadCursor(list_name)
    return int(digits)


def page_of(
    rows: Sequence[tuple[int, Row]], limit: int, list_name: str
) -> tuple[list[Row], str | None]:
    """Cut (position, row) pairs, of which one more than `limit` was asked for, to a page.

    Returns the rows, and the cursor behind the last of them; None: there is no more.
    """
    shown = rows[:limit]
    more = len(rows) > limit
    return [row for _, row in shown], write_cursor(list_name, shown[-1][0]) if more else None
