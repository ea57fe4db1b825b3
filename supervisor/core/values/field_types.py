"""The small types that a spec is made of: durations, column names, moments, whole numbers."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

UNLIMITED = 2_147_483_647
"""Druid's word for "no bound": Java's largest int."""

DURATION_MAX = timedelta(seconds=10**9)
"""About 31 years: what is longer is a slip of the pen."""
COLUMN_NAME_MAX = 200
"""Characters in the name of a column."""
RESERVED_COLUMNS = frozenset({"__time", "__partition", "__offset", "__topic"})
"""Columns that every table has of its own."""

_PERIOD = re.compile(
    r"P(?:([0-9]{1,10})W)?(?:([0-9]{1,10})D)?"
    r"(?:T(?:([0-9]{1,10})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,10})(?:\.([0-9]{1,6}))?S)?)?"
)
_CALENDAR = re.compile(r"P[^T]*[0-9][YM].*")
_DURATION_HINT = "write an ISO 8601 duration such as PT30S, PT1M, PT1H30M or P1D"
_SHOWN_MAX = 60
_PART_MAX = 100


def wrong(message: str, hint: str = "", within: str = "") -> PydanticCustomError:
    """Return the error that a field's validator raises: what is wrong, and what to do.

    `within` is a pointer from the field to the part of it that is wrong.
    """
    context = {"message": message, "hint": hint, "within": within}
    return PydanticCustomError("spec", "{message}", context)


def shown(value: object) -> str:
    """Return a value as it may stand in a message: short, and without control characters."""
    text = value if isinstance(value, str) else str(value)
    return ascii(text[:_SHOWN_MAX])[1:-1] + ("..." if len(text) > _SHOWN_MAX else "")


def pointer_part(name: str) -> str:
    """Return `name` as a part of a JSON pointer, shortened."""
    return name[:_PART_MAX].replace("~", "~0").replace("/", "~1")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that `name` was probably meant to be; `cutoff`: 1 is the same."""
    lowered = {k.lower(): k for k in known}
    found = get_close_matches(name.lower()[:200], lowered, n=1, cutoff=cutoff)
    return lowered[found[0]] if found else None


def one_of(value: object, known: Sequence[str], otherwise: str) -> str:
    """Return `value` if it is one of the known words.

    Raises:
        PydanticCustomError: it is no text, or another one, which `otherwise` says: "is no word".
    """
    if not isinstance(value, str):
        raise wrong("must be a text", f"use one of {', '.join(known)}")
    if value in known:
        return value
    close = nearest(value, known)
    hint = f"did you mean {close}?" if close else f"use one of {', '.join(known)}"
    raise wrong(f"{shown(value)} {otherwise}", hint)


def parse_duration(text: str) -> timedelta:
    """Return an ISO 8601 duration; days have 24 hours.

    Raises:
        PydanticCustomError: a ValueError whose context holds `message` and `hint`.

    Joda's `P1M` has no length of its own, so months and years are refused.
    """
    if _CALENDAR.fullmatch(text):
        raise wrong(f"{shown(text)}: months and years have no fixed length", "write it in days")
    if "-" in text:
        raise wrong(f"{shown(text)} is negative or no duration", _DURATION_HINT)
    match = _PERIOD.fullmatch(text)
    if match is None or not any(match.groups()) or text.endswith("T"):
        raise wrong(f"{shown(text)} is not an ISO 8601 duration", _DURATION_HINT)
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:5])
    micros = int((match[6] or "").ljust(6, "0"))
    whole = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
    if whole >= DURATION_MAX.total_seconds():
        raise wrong(f"{shown(text)} is too long", "at most PT1000000000S, about 31 years")
    return timedelta(seconds=whole, microseconds=micros)


def format_duration(value: timedelta) -> str:
    """Return a duration as Druid rewrites it: seconds only, `PT60S`."""
    micros = value // timedelta(microseconds=1)
    seconds, rest = divmod(micros, 1_000_000)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"PT{seconds}{fraction}S"


def _read_duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        if not timedelta(0) <= value < DURATION_MAX:
            raise wrong("is negative or too long", _DURATION_HINT)
        return value
    if not isinstance(value, str):
        raise wrong("must be an ISO 8601 duration as text", _DURATION_HINT)
    return parse_duration(value)


def _at_least_a_second(value: timedelta) -> timedelta:
    if value < timedelta(seconds=1):
        raise wrong(f"{format_duration(value)} is too short", "at least PT1S")
    return value


def _not_too_short(value: timedelta) -> timedelta:
    if value < timedelta(milliseconds=100):
        raise wrong(f"{format_duration(value)} is too short", "at least PT0.1S")
    return value


# pydantic's own reading of a timedelta takes numbers, and P1M for 30 days.
Duration = Annotated[
    timedelta, BeforeValidator(_read_duration), PlainSerializer(format_duration, return_type=str)
]
"""ISO 8601 text on the wire, from PT0S up to 10^9 seconds."""
LongDuration = Annotated[Duration, AfterValidator(_at_least_a_second)]
"""A `Duration` of at least one second."""
BatchDuration = Annotated[Duration, AfterValidator(_not_too_short)]
"""A `Duration` of at least a tenth of a second."""

_FLAGS = dict.fromkeys(("true", "True", "TRUE"), True)
_FLAGS |= dict.fromkeys(("false", "False", "FALSE"), False)
_DIGITS = re.compile(r"-?[0-9]{1,19}")


def unquoted(value: object) -> object:
    """Return the flag or whole number that a text is, or the value as it is.

    Source: Jackson, by which Druid reads a spec, takes `"true"` and `"2"` where it wants these.
    """
    if not isinstance(value, str):
        return value
    word = value.strip()
    return int(word) if _DIGITS.fullmatch(word) else _FLAGS.get(word, value)


def _read_flag(value: object) -> object:
    found = unquoted(value)
    return found if isinstance(found, bool) else value


def _read_whole(value: object) -> object:
    found = unquoted(value)
    return value if isinstance(found, bool) else found


READ_FLAG, READ_WHOLE = BeforeValidator(_read_flag), BeforeValidator(_read_whole)
Flag = Annotated[bool, READ_FLAG, Field(strict=True)]
"""True or false, in quotes or not."""
Whole = Annotated[int, READ_WHOLE, Field(strict=True)]
"""A whole number, in quotes or not."""
Text = Annotated[str, Field(strict=True)]


def _read_moment(value: object) -> datetime:
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise wrong(f"{shown(value)} is not an ISO 8601 time", "2000-01-01T00:00:00Z") from None
    else:
        raise wrong("must be an ISO 8601 time as text", "for example 2000-01-01T00:00:00Z")
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise wrong("lies outside the years 1 to 9999 in UTC") from None


Moment = Annotated[datetime, BeforeValidator(_read_moment)]
"""A point in time, in UTC: ISO 8601 text on the wire, UTC when it names no zone."""


def _checked_column(name: str) -> str:
    if not name:
        raise wrong("a column's name must not be empty")
    if len(name) > COLUMN_NAME_MAX:
        raise wrong(f"a column's name has {len(name)} characters", f"at most {COLUMN_NAME_MAX}")
    if any(unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} for sign in name):
        raise wrong(f"column {shown(name)} has control characters in its name")
    return name


def _checked_own_column(name: str) -> str:
    if name.lower() in RESERVED_COLUMNS:
        raise wrong(
            f"column {shown(name)} is reserved: every table has it",
            "give the column another name; the record's time goes to __time by timestampSpec",
        )
    return name


FieldName = Annotated[str, Field(strict=True), AfterValidator(_checked_column)]
"""The name of a field in a record."""
ColumnName = Annotated[FieldName, AfterValidator(_checked_own_column)]
"""The name of a column that a spec may give."""
