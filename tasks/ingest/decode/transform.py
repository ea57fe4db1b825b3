"""Conversion of the text of a JSON value to a column's value: SQL text, one rule per type.

A text that does not fit becomes null, never an error and never another value.  Spark's own cast
reads `12:30` as a time of today, `1.5` as the whole number 1 and `1d` as the number 1.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tasks.contract.ingest_spec import ColumnType, TimestampSpec
from tasks.contract.wire import Instant
from tasks.ingest.decode.iso_time import has_year, read_iso
from tasks.rows.arrays import ELEMENTS, EXACT_MAX, array_of
from tasks.rows.expression.let import let
from tasks.rows.expression.value import Value, as_double, as_json, as_long, as_string
from tasks.rows.time.joda import read_pattern

MICROS_MIN = -62_135_596_800_000_000
"""The first instant of year 1, in microseconds since the epoch; Python has none before it."""

MICROS_MAX = 253_402_300_799_999_999
"""The last microsecond of year 9999."""

_SECOND_MICROS = 1_000_000
_MILLI_MICROS = 1_000

_FRACTION = 17
"""Decimal places that count: a double has no more, and a cast rounds the rest."""

_DIGITS_OF_TIMES = {_SECOND_MICROS: 13, _MILLI_MICROS: 16, 1: 19}
"""Microseconds of a unit -> the digits before the point that its numbers may have.

With `_FRACTION` and the digits of the unit they fit a DECIMAL, so no product is rounded.
"""

_DIGITS_OF_NANOS = 20

_LARGEST = {"double": "1.7976931348623157E308D", "float": "CAST(3.4028235E38 AS FLOAT)"}


def as_value(raw: str, kind: ColumnType) -> str:
    """Return the SQL of column type `kind` for the SQL `raw`, a text; null if it does not fit.

    A long may be written as a double without a fraction (`1.0`, `1E3`).  NaN, infinities, and
    numbers too large for the type do not fit.
    """
    if kind == "string":
        return raw
    if kind == "long":
        double = f"CAST({raw} AS DOUBLE)"
        return (
            f"coalesce(CASE WHEN NOT contains({raw}, '.') THEN CAST({raw} AS BIGINT) END, "
            f"CASE WHEN {double} = floor({double}) AND abs({double}) <= {EXACT_MAX} "
            f"AND {_is_plain(raw)} THEN CAST({double} AS BIGINT) END)"
        )
    number = f"CAST({raw} AS {kind})"
    return f"CASE WHEN abs({number}) <= {_LARGEST[kind]} AND {_is_plain(raw)} THEN {number} END"


def within_type(number: str, kind: ColumnType) -> str:
    """Return a DOUBLE or FLOAT, null if it is infinite or NaN (to Spark the largest number)."""
    return f"CASE WHEN abs({number}) <= {_LARGEST[kind]} THEN {number} END"


def read_time(raw: str, spec: TimestampSpec) -> str:
    """Return the SQL of the intermediate value from which `as_time` makes the time."""
    match spec.format:
        case "auto":
            return f"CASE WHEN {has_year(raw)} THEN {read_iso(raw)} END"
        case "iso":
            return read_iso(raw)
        case "millis" | "posix" | "ruby" | "micro" | "nano":
            return _whole(raw)
        case pattern:
            return read_pattern(pattern).parse_sql(raw)


def as_time(raw: str, read: str, spec: TimestampSpec) -> str:
    """Return the SQL of the time in the text `raw`; null if there is none.

    `read` is the SQL of the result of `read_time`.  Times have microseconds and lie in the years 1
    to 9999.  A blank text counts as missing.
    """
    rule = _rule(raw, read, spec.format)
    if spec.missing_value is None:
        return rule
    missing = f"timestamp_micros({micros(spec.missing_value)})"
    return f"CASE WHEN {raw} IS NULL OR trim({raw}) = '' THEN {missing} ELSE {rule} END"


def as_column(value: Value, kind: ColumnType) -> str:
    """Return the SQL of column type `kind` for a value that has a type of its own.

    Null if the value does not fit: a long beyond 64 bits is no double, and a double is finite.
    A fraction is cut off if the column is a long.
    """
    match kind:
        case "string" if value.array is not None:
            several = f"to_json({value.array.sql})"
            single = as_string(replace(value, array=None))
            return f"CASE WHEN {value.array.sql} IS NOT NULL THEN {several} ELSE {single} END"
        case "string":
            return as_string(value)
        case "long":
            return as_long(value)
        case "double" | "float":
            return let(_number(value, kind), lambda number: within_type(number, kind))
        case "json":
            return as_json(value)
        case _:
            return array_of(value, ELEMENTS[kind], as_value)


def _number(value: Value, kind: ColumnType) -> str:
    number = as_double(value)
    return number if kind == "double" else f"CAST({number} AS FLOAT)"


def _rule(raw: str, read: str, written: str) -> str:
    match written:
        case "millis":
            return _from_number(raw, read, _MILLI_MICROS)
        case "posix" | "ruby":
            return _from_number(raw, read, _SECOND_MICROS)
        case "micro":
            return _from_number(raw, read, 1)
        case "nano":
            return _from_nanos(raw, read)
        case "auto":
            millis = _from_number(raw, _whole(raw), _MILLI_MICROS)
            return f"CASE WHEN {has_year(raw)} THEN {within(read)} ELSE {millis} END"
        case "iso":
            # As in Druid's parser, which takes up to nine digits for a year.
            long = f"length({raw}) > 9 AND NOT contains({raw}, '.')"
            millis = from_millis(f"CASE WHEN {long} THEN {_whole(raw)} END")
            return f"CASE WHEN {read} IS NULL THEN {millis} ELSE {within(read)} END"
        case _:
            return within(read)


def from_millis(millis: str) -> str:
    """Return the SQL of the time of a BIGINT; null unless a row can have that time."""
    low, high = -(-MICROS_MIN // _MILLI_MICROS), MICROS_MAX // _MILLI_MICROS
    # Checked first: timestamp_millis fails the job if the microseconds do not fit a long.
    return f"CASE WHEN {millis} BETWEEN {low} AND {high} THEN timestamp_millis({millis}) END"


def within(time: str) -> str:
    """Return the SQL of a time, null unless a row can have it."""
    bounds = f"timestamp_micros({MICROS_MIN}) AND timestamp_micros({MICROS_MAX})"
    return f"CASE WHEN {time} BETWEEN {bounds} THEN {time} END"


def micros(moment: Instant) -> int:
    """Return the microseconds of a moment since the epoch, exactly."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _whole(raw: str) -> str:
    return f"CAST({raw} AS BIGINT)"


def _from_number(raw: str, whole: str, unit_micros: int) -> str:
    """Return the SQL of the time of a number of units, rounded down to microseconds."""
    low, high = -(-MICROS_MIN // unit_micros), MICROS_MAX // unit_micros
    exact = _exact(raw, _DIGITS_OF_TIMES[unit_micros])
    return (
        f"CASE WHEN {whole} IS NOT NULL AND NOT contains({raw}, '.') THEN "
        f"CASE WHEN {whole} BETWEEN {low} AND {high} "
        f"THEN timestamp_micros({whole} * {unit_micros}) END "
        f"WHEN {exact} >= {low} AND {exact} < {high} + 1 "
        f"THEN timestamp_micros(CAST(floor({exact} * {unit_micros}) AS BIGINT)) END"
    )


def _from_nanos(raw: str, whole: str) -> str:
    """Return the SQL of the time of nanoseconds, rounded down to microseconds."""
    exact = f"CAST(floor({_exact(raw, _DIGITS_OF_NANOS)}) AS DECIMAL({_DIGITS_OF_NANOS}, 0))"
    return (
        f"CASE WHEN {whole} IS NOT NULL AND NOT contains({raw}, '.') "
        f"THEN timestamp_micros(({whole} - pmod({whole}, 1000)) div 1000) "
        f"ELSE timestamp_micros(CAST(floor({exact} / 1000) AS BIGINT)) END"
    )


def _exact(raw: str, digits: int) -> str:
    """Return the SQL of a text as DECIMAL, with or without an exponent; null if it is no number."""
    return f"CAST({raw} AS DECIMAL({digits + _FRACTION}, {_FRACTION}))"


def _is_plain(raw: str) -> str:
    """Exclude finite numbers of Java that JSON does not allow: `1d`, `1f`, `0x1p3`."""
    # Six searches in a few bytes; a regular expression costs ten times as much per value.
    return " AND ".join(f"NOT contains({raw}, '{letter}')" for letter in "dDfFxX")
