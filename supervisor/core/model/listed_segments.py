"""Segments as lists have them: without the offset spans, which are most of what is stored.

    SegmentKey      which segments a list has, and their state     one statement: one version
    ListedSegment   a key with the facts of its file               read page by page
    Segment         a listed segment with the offset spans         read page by page

What a key adds to a list can change.  All other facts of a published file never change.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tasks.contract.ingest_spec import Column


@dataclass(frozen=True)
class SegmentKey:
    """One entry of a list of segments: its size, and all of its state that can change."""

    id: str
    data_source: str
    supervisor_id: str
    unused_at: datetime | None
    deleted_at: datetime | None
    replaced_by: str | None
    rows: int
    size_bytes: int

    @property
    def used(self) -> bool:
        """Whether the segment is part of its table."""
        return self.unused_at is None


class FileFacts(Protocol):
    """The facts of a published file, with or without its offset spans."""

    @property
    def path(self) -> str:
        """The path below the warehouse."""
        ...

    @property
    def interval_start(self) -> datetime:
        """The start of the file's time chunk."""
        ...

    @property
    def interval_end(self) -> datetime:
        """The end of the file's time chunk, exclusive."""
        ...

    @property
    def rows(self) -> int:
        """The number of rows."""
        ...

    @property
    def size_bytes(self) -> int:
        """The size in bytes."""
        ...

    @property
    def sha256(self) -> str:
        """The digest of the content."""
        ...

    @property
    def time_min(self) -> datetime:
        """The earliest time of a row."""
        ...

    @property
    def time_max(self) -> datetime:
        """The latest time of a row."""
        ...


@dataclass(frozen=True)
class ListedFile:
    """A published file without its offset spans; see `FileFacts`."""

    path: str
    interval_start: datetime
    interval_end: datetime
    rows: int
    size_bytes: int
    sha256: str
    time_min: datetime
    time_max: datetime


@dataclass(frozen=True)
class ListedSegment:
    """One published, immutable Parquet file, as lists have it."""

    id: str
    data_source: str
    supervisor_id: str
    generation_id: str
    task_id: str
    published_at: datetime
    file: FileFacts
    columns: tuple[Column, ...] = ()
    """Columns that the file may have, with their types in it; empty: from before columns were
    recorded."""
    unused_at: datetime | None = None
    """When the segment was taken out of its table; the file is deleted after the grace time."""
    deleted_at: datetime | None = None
    """When the deletion of the file began; a deleted segment is never used again."""
    compaction_id: str | None = None
    """The compaction that wrote the file; generation and task are then those of the newest input.
    """
    replaced_by: str | None = None
    """The compaction that replaced the segment; a replaced segment is never put back."""

    @property
    def used(self) -> bool:
        """Whether the segment is part of its table."""
        return self.unused_at is None

    @property
    def written_by(self) -> str:
        """The id of the task or compaction in whose folder the file lies."""
        return self.compaction_id or self.task_id


@dataclass(frozen=True)
class SegmentWindow:
    """Which segments a list has; each condition that is given has to hold."""

    used: bool | None = None
    """None: used or not, and deleted ones too."""
    begin: datetime | None = None
    end: datetime | None = None
    """Of segments whose interval lies wholly in `[begin, end)`, as marks choose them."""
    supervisor_id: str | None = None

    def fits(self, key: SegmentKey) -> bool:
        """Return whether a segment within the times is wanted."""
        return self.used in {None, key.used} and self.supervisor_id in {None, key.supervisor_id}


EVERY_SEGMENT = SegmentWindow()
