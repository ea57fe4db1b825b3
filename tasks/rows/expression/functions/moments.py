"""Functions of time with Joda patterns or periods; patterns, periods and zones are literals.

A time is a long: milliseconds since the epoch, in the years 1 to 9999.  Other times are null.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let
from tasks.rows.expression.value import Value, as_long, of_long, of_text
from tasks.rows.time.joda import PatternError, format_iso_sql, parse_iso_sql, read_pattern
from tasks.rows.time.period import Period, PeriodError, ceil_sql, floor_sql, read_period, shift_sql
from tasks.rows.time.zones import ZoneError

_MILLIS_MIN = -62_135_596_800_000
_MILLIS_MAX = 253_402_300_799_999
_Result = TypeVar("_Result")


def _parse(given: Given) -> Value:
    return of_long(f"unix_millis({_parsed(given)})")


def _unix_seconds(given: Given) -> Value:
    return of_long(f"unix_seconds({_parsed(given)})")


def _parsed(given: Given) -> str:
    raw, zone = given.text(0), _zone(given, 2)
    if not _is_given(given, 1):
        return _tried(given, 2, lambda: parse_iso_sql(raw, zone))
    pattern = given.literal_text(1, "the pattern")
    return _tried(given, 1, lambda: read_pattern(pattern).parse_sql(raw, zone))


def _format(given: Given) -> Value:
    zone = _zone(given, 2)
    if not _is_given(given, 1):
        return of_text(format_iso_sql(_moment(given)))
    pattern = given.literal_text(1, "the pattern")
    return of_text(_tried(given, 1, lambda: read_pattern(pattern).format_sql(_moment(given), zone)))


def _rounded(by: Callable[[str, Period, str, datetime | None], str]) -> Callable[[Given], Value]:
    def make(given: Given) -> Value:
        zone, origin = _zone(given, 3), _origin(given)
        written = given.literal_text(1, "the period")
        period = _tried(given, 1, lambda: read_period(written))
        found = _tried(given, 1, lambda: by(_moment(given), period, zone, origin))
        return of_long(f"unix_millis({found})")

    return make


def _shift(given: Given) -> Value:
    zone = _zone(given, 3)
    written = given.literal_text(1, "the period")
    period = _tried(given, 1, lambda: read_period(written))
    step = given.whole(2)
    found = _tried(given, 3, lambda: shift_sql(_moment(given), period, step, zone=zone))
    return of_long(f"unix_millis({found})")


def _moment(given: Given) -> str:
    """Return the TIMESTAMP of the first argument."""
    return let(
        as_long(given.values[0]),
        lambda m: (
            f"CASE WHEN {m} BETWEEN {_MILLIS_MIN}L AND {_MILLIS_MAX}L "
            f"THEN timestamp_millis({m}) END"
        ),
    )


def _is_given(given: Given, place: int) -> bool:
    """Return whether an argument is present and not null."""
    return given.has(place) and bool(given.values[place].texts)


def _zone(given: Given, place: int) -> str:
    return given.literal_text(place, "the time zone") if _is_given(given, place) else "UTC"


def _origin(given: Given) -> datetime | None:
    if not _is_given(given, 2):
        return None
    literal = given.literal(2)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    try:
        if isinstance(literal, str):
            moment = datetime.fromisoformat(literal)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(literal, int):
            return epoch + timedelta(milliseconds=literal)
    except (ValueError, OverflowError):
        pass
    raise given.wrong(2, f"the origin of {given.name} is no time", "write '2024-01-01T00:00:00Z'")


def _tried(given: Given, place: int, make: Callable[[], _Result]) -> _Result:
    try:
        return make()
    except (PatternError, PeriodError, ZoneError) as error:
        raise given.wrong(place, error.message, error.fix) from None


FUNCTIONS = table(
    Function("timestamp(text[, pattern])", 1, 2, _parse),
    Function("unix_timestamp(text[, pattern])", 1, 2, _unix_seconds),
    Function("timestamp_parse(text[, pattern[, zone]])", 1, 3, _parse),
    Function("timestamp_format(time[, pattern[, zone]])", 1, 3, _format),
    Function(
        "timestamp_floor(time, period[, origin[, zone]])",
        2,
        4,
        _rounded(lambda t, period, zone, origin: floor_sql(t, period, zone=zone, origin=origin)),
    ),
    Function(
        "timestamp_ceil(time, period[, origin[, zone]])",
        2,
        4,
        _rounded(lambda t, period, zone, origin: ceil_sql(t, period, zone=zone, origin=origin)),
    ),
    Function("timestamp_shift(time, period, step[, zone])", 3, 4, _shift),
)
