"""Which small files of a table are rewritten as one, and what became of that.

    files of one table, supervisor and time chunk          (interval)
        │ small ones, in the order of publication, whose ranges do not overlap
        ▼
    batches of at most the target's rows and bytes ──► one compaction each: one file out

A compaction takes whole files and writes one, so that its file is what its inputs were together:
each range's share is known from the rows here, and no reader's word is needed for it.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.intervals import Interval
from supervisor.core.model import TaskStatus
from tasks.contract import OffsetSpan
from tasks.ingest_spec import Column


@dataclass(frozen=True)
class Share:
    """What one published range has in a file."""

    generation_id: str
    rows: int
    spans: tuple[OffsetSpan, ...]
    """Which offsets its rows stand for."""


@dataclass(frozen=True)
class Compaction:
    """One attempt to replace files by one; the row is the write intent of its folder (P23)."""

    id: str
    data_source: str
    supervisor_id: str
    interval: Interval
    inputs: tuple[str, ...]
    """Ids of the segments."""
    columns: tuple[Column, ...]
    """Those of the new file."""
    shares: tuple[Share, ...]
    reason: str
    created_at: datetime
    status: TaskStatus = TaskStatus.RUNNING
    worker_id: str = ""
    """Empty: it waits for one."""
    incarnation: int = 0
    """Of the worker, when it was assigned."""
    token: str = field(default="", repr=False)
    assigned_at: datetime | None = None
    ended_at: datetime | None = None
    detail: str = ""
    """Why it failed, or what came of it."""
    blamed: bool = False
    """It failed for what is in its files; not because a worker went or they were taken out."""
    folder_deleted_at: datetime | None = None

    @property
    def live(self) -> bool:
        """It waits or runs."""
        return self.status is TaskStatus.RUNNING


@dataclass(frozen=True)
class CompactionRule:
    """How a table's small files are compacted by themselves."""

    data_source: str
    skip_offset_from_latest: timedelta
    """Chunks that end less than this before the table's latest one are left alone."""
    target_rows: int
    target_bytes: int
    files_min: int
    """Fewer small files of one chunk are not worth it."""
    author: str
    set_at: datetime
