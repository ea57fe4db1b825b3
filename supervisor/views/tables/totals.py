"""Response models of the totals of tables, and of their timelines."""

from collections.abc import Sequence
from datetime import datetime

from supervisor.core.tables.totals import TableTotals, TimeBucket, TimeWindow
from supervisor.core.values.field_types import format_duration
from tasks.contract.wire import Instant, Wire


class TableStats(Wire):
    """The totals of one table, of a few seconds ago; rows, bytes, times are of files in use."""

    name: str
    rows: int
    bytes: int
    files: int
    small_files: int = 0
    """Files in use that compaction would take: of less than half the rows and bytes wanted."""
    unused_files: int
    """Files that were taken out and are not deleted yet."""
    time_min: Instant | None
    """The least time of a row; null: no file is in use."""
    time_max: Instant | None
    last_published_at: Instant | None
    """Null: not known, as of a table whose supervisors are gone and whose files are compacted."""
    supervisors: list[str]
    """Those that feed the table."""
    exports: list[str]
    """The formats that the table is exported in."""


class TimelineBucket(Wire):
    """The files whose interval begins in one bucket."""

    start: Instant
    rows: int
    bytes: int
    files: int
    small: int
    """Files in use that compaction would take: of less than half the rows and bytes wanted."""
    unused: int
    """Files that were taken out and are not deleted yet."""


class Timeline(Wire):
    """The newest buckets of a table that have a file, oldest first."""

    data_source: str
    bucket: str
    """ISO 8601; buckets begin at multiples of it since 1970, in UTC."""
    buckets: list[TimelineBucket]
    more: bool
    """Whether there are older ones in the window; `to` the first `start` shows them."""


def table_stats(
    name: str,
    totals: TableTotals | None,
    published: Sequence[datetime],
    supervisors: Sequence[str],
    exports: Sequence[str],
) -> TableStats:
    """Return the response for one table; `totals` None: it has no file."""
    known = totals or TableTotals(0, 0, 0, 0, 0, None, None, None)
    times = [*published, *([known.written_at] if known.written_at is not None else [])]
    return TableStats(
        name=name,
        rows=known.rows,
        bytes=known.size_bytes,
        files=known.files,
        small_files=known.small_files,
        unused_files=known.unused_files,
        time_min=known.time_min,
        time_max=known.time_max,
        last_published_at=max(times, default=None),
        supervisors=list(supervisors),
        exports=sorted(exports),
    )


def timeline_view(
    data_source: str, window: TimeWindow, found: Sequence[TimeBucket], limit: int
) -> Timeline:
    """Return the response for the newest buckets, of which one may be beyond the limit."""
    return Timeline(
        data_source=data_source,
        bucket=format_duration(window.bucket),
        buckets=[
            TimelineBucket(
                start=each.start,
                rows=each.rows,
                bytes=each.size_bytes,
                files=each.files,
                small=each.small,
                unused=each.unused,
            )
            for each in found[:limit][::-1]
        ],
        more=len(found) > limit,
    )
