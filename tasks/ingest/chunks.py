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
    Granularity.MINUTE: timedelta(minutes=1),
    Granularity.FIVE_MINUTE: timedelta(minutes=5),
    Granularity.FIFTEEN_MINUTE: timedelta(minutes=15),
    Granularity.HOUR: timedelta(hours=1),
    Granularity.SIX_HOUR: timedelta(hours=6),
    Granularity.DAY: timedelta(days=1),
    Granularity.WEEK: timedelta(weeks=1),
}

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
    if granularity is Granularity.YEAR:
        start = datetime(moment.year, 1, 1, tzinfo=UTC)
        last = moment.year == TIME_MAX.year
        return start, TIME_MAX if last else start.replace(year=moment.year + 1)
    if granularity is Granularity.MONTH:
        start = datetime(moment.year, moment.month, 1, tzinfo=UTC)
        if (moment.year, moment.month) == (TIME_MAX.year, TIME_MAX.month):
            return start, TIME_MAX
        return start, (start + timedelta(days=32)).replace(day=1)
    length = _FIXED[granularity]
    start = moment - (moment - _EPOCH_MONDAY) % length
    return start, TIME_MAX if TIME_MAX - start < length else start + length


def chunk_sql(column: str, granularity: Granularity) -> str:
    """Return the SQL of the start of a time's chunk, in microseconds since the epoch."""
    if granularity is Granularity.ALL:
        return "0L"
    if granularity in {Granularity.MONTH, Granularity.YEAR}:
        return f"unix_micros(date_trunc('{granularity.value}', {column}))"
    length = _FIXED[granularity] // _MICROSECOND
    monday = (_EPOCH_MONDAY - datetime(1970, 1, 1, tzinfo=UTC)) // _MICROSECOND
    return f"(unix_micros({column}) - pmod(unix_micros({column}) - {monday}, {length}))"
