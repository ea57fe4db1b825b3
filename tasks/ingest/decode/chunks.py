"""Time chunks: the interval that a segment belongs to.

The rule exists twice, in Python and as SQL for Spark; a merge checks the SQL by the Python.
"""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta

from tasks.contract.ingest_spec import PERIODS, Granularity, PeriodChunks
from tasks.ingest.decode.transform import micros
from tasks.rows.time.period import read_period, tile_sql
from tasks.rows.time.tiling import FixedClock, Tiling, WallClock
from tasks.rows.time.zones import FIRST, LAST

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

TIME_MIN = datetime(1, 1, 1, tzinfo=UTC)
"""Start of the one chunk of ALL, and of every chunk that would begin before year 1."""

TIME_MAX = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""End of the one chunk of ALL, and of every chunk that would end in year 10000."""

_TRUNCATED = {Granularity.MONTH, Granularity.QUARTER, Granularity.YEAR}
"""The granularities for which Spark has a function."""

Interval = tuple[datetime, datetime]
"""[start, end): aware times in UTC."""


class Chunks:
    """The time chunks of a table.

    ALL is one chunk from year 1 to the end of year 9999, the range of a row's time.  (Druid's
    eternity is longer than our dates.)  Weeks begin on Monday.
    """

    def __init__(
        self, granularity: Granularity | PeriodChunks, clock: WallClock | None = None
    ) -> None:
        """`clock`: Spark's clock of the granularity's zone; by default that of UTC."""
        self._granularity = granularity
        self._tiling = None if granularity is Granularity.ALL else _tiling(granularity, clock)
        # A question to a clock may be slow, and the files of a merge lie in few chunks.
        self._starts: list[datetime] = []
        self._known: list[Interval] = []

    def __str__(self) -> str:
        """Return the granularity as text for people."""
        granularity = self._granularity
        if isinstance(granularity, Granularity):
            return granularity.value
        since = f" from {granularity.origin}" if granularity.origin else ""
        return f"{granularity.period} in {granularity.time_zone}{since}"

    def of(self, moment: datetime) -> Interval:
        """Return the chunk that `moment` lies in."""
        if self._tiling is None:
            return TIME_MIN, TIME_MAX
        place = bisect_right(self._starts, moment)
        if place and moment < self._known[place - 1][1]:
            return self._known[place - 1]
        start, end = self._tiling.around(micros(moment))
        chunk = _moment(max(start, FIRST)), _moment(min(end, LAST))
        if chunk not in self._known[place - 1 : place]:  # TIME_MAX is the end of its own chunk
            self._starts.insert(place, chunk[0])
            self._known.insert(place, chunk)
        return chunk

    def sql(self, column: str) -> str:
        """Return the SQL of the start of the chunk of a time, in microseconds since the epoch."""
        granularity = self._granularity
        if self._tiling is None:
            return "0L"
        if (even := self._tiling.even) is not None:
            length, anchor = even
            start = f"unix_micros({column}) - pmod(unix_micros({column}) - {anchor}, {length})"
            return f"greatest({start}, {FIRST})"
        if isinstance(granularity, PeriodChunks):
            zone, origin = granularity.time_zone, granularity.origin
            return tile_sql(column, self._tiling.period, zone=zone, origin=origin)
        assert granularity in _TRUNCATED
        return f"unix_micros(date_trunc('{granularity.value}', {column}))"


def _tiling(granularity: Granularity | PeriodChunks, clock: WallClock | None) -> Tiling:
    clock = FixedClock() if clock is None else clock
    if isinstance(granularity, Granularity):
        return Tiling(read_period(PERIODS[granularity]), clock)
    origin = None if granularity.origin is None else micros(granularity.origin)
    return Tiling(read_period(granularity.period), clock, origin)


def _moment(since: int) -> datetime:
    return _EPOCH + timedelta(microseconds=since)
