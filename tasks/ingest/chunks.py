"""Time chunks: the interval that a segment belongs to, in UTC calendar units.

The same rule twice, for Python and for Spark; a merge checks the second by the first.
"""

from datetime import UTC, datetime, timedelta

from tasks.ingest_spec import Granularity

TIME_MIN = datetime(1, 1, 1, tzinfo=UTC)
"""Start of the one chunk of ALL."""

TIME_MAX = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""End of the one chunk of ALL, and of any that would end in year 10000."""

_EPOCH_MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIXED = {
    Granularity.SECOND: timedelta(seconds=1),
    Granularity.MINUTE: timedelta(minutes=1),
    Granularity.FIVE_MINUTE: timedelta(minutes=5),
    Granularity.TEN_MINUTE: timedelta(minutes=10),
    Granularity.FIFTEEN_MINUTE: timedelta(minutes=15),
    Granularity.THIRTY_MINUTE: timedelta(minutes=30),
    Granularity.HOUR: timedelta(hours=1),
    Granularity.SIX_HOUR: timedelta(hours=6),
    Granularity.EIGHT_HOUR: timedelta(hours=8),
    Granularity.DAY: timedelta(days=1),
    Granularity.WEEK: timedelta(weeks=1),
}

_MONTHS = {Granularity.MONTH: 1, Granularity.QUARTER: 3, Granularity.YEAR: 12}

Interval = tuple[datetime, datetime]
"""[start, end), aware, in UTC."""


def chunk_of(moment: datetime, granularity: Granularity) -> Interval:
    """Return the chunk that `moment` lies in.

    Weeks begin on Monday.  ALL is one chunk from year 1 to the end of year 9999: the times that
    a row can have.  (Druid's eternity is longer than our dates.)
    """
    moment = moment.astimezone(UTC)
    if granularity is Granularity.ALL:
        return TIME_MIN, TIME_MAX
    if (months := _MONTHS.get(granularity)) is not None:
        first = (moment.month - 1) // months * months
        year, after = divmod(first + months, 12)
        start = datetime(moment.year, first + 1, 1, tzinfo=UTC)
        if moment.year + year > TIME_MAX.year:
            return start, TIME_MAX
        return start, datetime(moment.year + year, after + 1, 1, tzinfo=UTC)
    length = _FIXED[granularity]
    start = moment - (moment - _EPOCH_MONDAY) % length
    return start, TIME_MAX if TIME_MAX - start < length else start + length


def chunk_sql(column: str, granularity: Granularity) -> str:
    """Return the SQL of the start of a time's chunk, in microseconds since the epoch."""
    if granularity is Granularity.ALL:
        return "0L"
    if granularity in _MONTHS:
        return f"unix_micros(date_trunc('{granularity.value}', {column}))"
    length = _FIXED[granularity] // _MICROSECOND
    monday = (_EPOCH_MONDAY - datetime(1970, 1, 1, tzinfo=UTC)) // _MICROSECOND
    return f"(unix_micros({column}) - pmod(unix_micros({column}) - {monday}, {length}))"
