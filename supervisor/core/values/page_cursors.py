"""Pagination cursors: the place where a list that is read page by page continues.

A cursor is opaque to clients, so that its content may change: a version, the list, a position, a
checksum.
"""

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from supervisor.core.values.errors import BadCursor

_VERSION = "1"
_LENGTH_MAX = 200
NAMED_LENGTH_MAX = 400
"""The maximum length of a cursor with a name: an id of a task has some 170 signs."""
_PARTS = 4
_DIGITS_MAX = 18
_NAME_BYTES = 18
_BETWEEN = "-"
KEYED_LENGTH_MAX = 4_000
"""The maximum length of a cursor of `KeyedPlace`, which holds texts."""

Row = TypeVar("Row")


def write_cursor(list_name: str, *place: int) -> str:
    """Return the cursor of a place in a list; a place is one number or more, from 0."""
    assert min(place) >= 0, "positions count from 0"
    payload = f"{_VERSION}.{list_name}.{_BETWEEN.join(str(number) for number in place)}"
    whole = f"{payload}.{zlib.crc32(payload.encode()):08x}"
    return base64.urlsafe_b64encode(whole.encode()).decode().rstrip("=")


def read_cursor(list_name: str, text: str | None) -> int | None:
    """Return the position; None for none.

    Raises:
        BadCursor: it was not written by `write_cursor` for this list.
    """
    found = read_place(list_name, text, 1)
    return None if found is None else found[0]


def read_place(list_name: str, text: str | None, numbers: int) -> tuple[int, ...] | None:
    """Return a place of so many numbers; None for none.

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
    place = parts[2].split(_BETWEEN) if len(parts) == _PARTS else []
    if len(place) != numbers or not all(map(_is_number, place)):
        raise BadCursor(list_name)
    positions = tuple(int(digits) for digits in place)
    if write_cursor(list_name, *positions) != text:
        raise BadCursor(list_name)
    return positions


def write_named(list_name: str, number: int, name: str) -> str:
    """Return the cursor of a place that a number and a name mark, such as a time and an id."""
    assert number >= 0, "positions count from 0"
    payload = f"{_VERSION}.{list_name}.{number}.{name}"
    whole = f"{payload}.{zlib.crc32(payload.encode()):08x}"
    return base64.urlsafe_b64encode(whole.encode()).decode().rstrip("=")


def read_named(list_name: str, text: str | None) -> tuple[int, str] | None:
    """Return number and name of a place; None for none.

    Raises:
        BadCursor: it was not written by `write_named` for this list.
    """
    if text is None:
        return None
    if len(text) > NAMED_LENGTH_MAX:
        raise BadCursor(list_name)
    try:
        whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        parts = whole.decode("ascii").rpartition(".")[0].split(".", _PARTS - 1)
    except (binascii.Error, ValueError):
        raise BadCursor(list_name) from None
    if len(parts) != _PARTS or not _is_number(parts[2]):
        raise BadCursor(list_name)
    number, name = int(parts[2]), parts[3]
    if write_named(list_name, number, name) != text:
        raise BadCursor(list_name)
    return number, name


def _is_number(digits: str) -> bool:
    return digits.isdigit() and len(digits) <= _DIGITS_MAX


SortValue: TypeAlias = str | int | float | list[int] | None
"""The value of a row in the column that a list is sorted by; None: not known."""


@dataclass(frozen=True)
class KeyedPlace:
    """The place behind a row, in a list that is sorted by a value and then by the row's id."""

    value: SortValue
    row_id: str


def write_keyed(list_name: str, place: KeyedPlace) -> str:
    """Return the cursor of a place in a sorted list; `list_name` has to name the order, too."""
    parts = [_VERSION, list_name, place.value, place.row_id]
    # Signs as they are: written as \u0000 a long name of foreign letters would be too long.
    payload = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
    whole = f"{zlib.crc32(payload.encode()):08x}{payload}"
    return base64.urlsafe_b64encode(whole.encode()).decode().rstrip("=")


def read_keyed(list_name: str, text: str | None) -> KeyedPlace | None:
    """Return the place of a cursor; None for none.

    Raises:
        BadCursor: it was not written by `write_keyed` for this list.
    """
    if text is None:
        return None
    if len(text) > KEYED_LENGTH_MAX:
        raise BadCursor(list_name)
    try:
        whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        place = _place_in(json.loads(whole[8:]))
        if place is not None and write_keyed(list_name, place) == text:
            return place
    except (ValueError, RecursionError):  # also half a surrogate pair, which has no UTF-8
        pass
    raise BadCursor(list_name)


def _place_in(parts: object) -> KeyedPlace | None:
    if not isinstance(parts, list) or len(parts) != _PARTS or not _is_sort_value(parts[2]):
        return None
    return KeyedPlace(parts[2], str(parts[3]))


def _is_sort_value(value: object) -> bool:
    if isinstance(value, list):
        return all(type(each) is int for each in value)
    return value is None or type(value) in {str, int, float}


def place_of(list_name: str, text: str | None, ids: Sequence[str]) -> int:
    """Return the index behind the row that a cursor names, in a list with a fixed order.

    Raises:
        BadCursor: it was not written by `page_behind` for this list.
    """
    if text is None:
        return 0
    index = next((n for n, each in enumerate(ids, 1) if _named(list_name, each) == text), None)
    if index is None:
        raise BadCursor(list_name)
    return index


def page_behind(
    rows: Sequence[Row], ids: Sequence[str], limit: int | None, list_name: str
) -> tuple[list[Row], str | None]:
    """Return one page of the rows with these ids, and a cursor that names the page's last row.

    Rows that are added before that row meanwhile are not seen, and present rows are seen once.
    """
    if limit is None or len(rows) <= limit:
        return list(rows), None
    return list(rows[:limit]), _named(list_name, ids[limit - 1])


def _named(list_name: str, row_id: str) -> str:
    digest = hashlib.sha256(f"{_VERSION}.{list_name}.{row_id}".encode()).digest()
    return base64.urlsafe_b64encode(digest[:_NAME_BYTES]).decode()


def page(
    list_name: str,
    limit: int,
    cursor: str | None,
    read: Callable[[int, int | None], Sequence[tuple[int, Row]]],
) -> tuple[list[Row], str | None]:
    """Read a page of a list, newest first: its rows, and the cursor behind it; None: the last page.

    `read` takes how many rows it may return, and the position before which they are, None: from
    the newest one on.  It returns (position, row) pairs.

    Raises:
        BadCursor: it is no cursor of this list.
    """
    rows = read(limit + 1, read_cursor(list_name, cursor))
    shown = rows[:limit]
    following = write_cursor(list_name, shown[-1][0]) if len(rows) > limit else None
    return [row for _, row in shown], following
