"""Totals of tables, and of the buckets of time that their files lie in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.values.errors import FieldError, InvalidRequest

BUCKET_MIN = timedelta(minutes=1)
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class SmallBelow:
    """A file with fewer rows and fewer bytes is small."""

    rows: int
    size_bytes: int


@dataclass(frozen=True)
class SmallSizes:
    """Which files of each table are small."""

    usual: SmallBelow
    other: Mapping[str, SmallBelow]
    """Those of tables that have sizes of their own."""


@dataclass(frozen=True)
class TableTotals:
    """The totals of one table; rows, bytes and times are of files in use."""

    rows: int
    size_bytes: int
    files: int
    small_files: int
    """Files in use that compaction would take: of less than half the target's rows and bytes."""
    unused_files: int
    """Files that were taken out and are not deleted yet."""
    time_min: datetime | None
    """The least time of a row; None: no file is in use."""
    time_max: datetime | None
    written_at: datetime | None
    """When a task last published one of the files; None: all are compacted ones."""


@dataclass(frozen=True)
class TimeBucket:
    """The files whose interval begins in one bucket of time."""

    start: datetime
    rows: int
    size_bytes: int
    files: int
    small: int
    """Files in use that compaction would take: of less than half the target's rows and bytes."""
    unused: int


@dataclass(frozen=True)
class TimeWindow:
    """Which buckets of a table are wanted: the newest that have a file."""

    bucket: timedelta
    """Of whole seconds; buckets begin at multiples of it since 1970."""
    begin: datetime | None
    end: datetime | None
    small_rows: int
    small_bytes: int
    """A file with fewer rows and fewer bytes is small."""
    limit: int


def check_bucket(bucket: timedelta) -> None:
    """Refuse a bucket that time cannot be divided into.

    Raises:
        InvalidRequest: with the place in the query.
    """
    if bucket < BUCKET_MIN or bucket % _SECOND:
        why = "is less than a minute, or has a part of a second"
        raise InvalidRequest([FieldError("/query/bucket", why, "PT1H")])
