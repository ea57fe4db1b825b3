"""The wall clock of a time zone, as the JVM has it, because Spark's SQL follows the JVM.

Python's own list of zones may be older or newer than Java's.  With it a merge could put rows on
one side of midnight, and the check of the merge on the other.
"""

from pyspark.sql import SparkSession

from tasks.contract.ingest_spec import Granularity, PeriodChunks
from tasks.ingest.decode.chunks import Chunks
from tasks.rows.time.tiling import FixedClock
from tasks.rows.time.zones import SECOND, read_zone


class JavaClock:
    """See `tasks.rows.time.tiling.Clock`; each call is a call to the JVM."""

    def __init__(self, session: SparkSession, zone: str) -> None:
        """`zone`: the name of a region that Java knows."""
        jvm = session.sparkContext._jvm  # noqa: SLF001 -- there is no public way to Java's classes
        assert jvm is not None
        self._time = jvm.java.time
        self._rules = self._time.ZoneId.of(zone).getRules()

    def offset(self, instant: int) -> int:
        """Return how far the wall clock is ahead of UTC at an instant."""
        moment = self._time.Instant.ofEpochSecond(instant // SECOND)
        return int(self._rules.getOffset(moment).getTotalSeconds()) * SECOND

    def offset_shown(self, local: int) -> int:
        """Return the offset at a wall clock time; the earlier one if it occurs twice or never."""
        utc = self._time.ZoneOffset.UTC
        shown = self._time.LocalDateTime.ofEpochSecond(local // SECOND, 0, utc)
        return int(self._rules.getOffset(shown).getTotalSeconds()) * SECOND


def chunks_of(session: SparkSession, granularity: Granularity | PeriodChunks) -> Chunks:
    """Return the time chunks of a table, as this session's SQL divides time."""
    if isinstance(granularity, Granularity):
        return Chunks(granularity)
    zone = read_zone(granularity.time_zone)
    if zone.offset is not None:
        return Chunks(granularity, FixedClock(zone.offset))
    return Chunks(granularity, JavaClock(session, zone.id))
