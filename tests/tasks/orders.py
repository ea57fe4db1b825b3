"""Compactions as an overlord asks for them, of files that only a memory engine knows."""

from datetime import timedelta

from tasks.contract import CompactionInput, DesiredCompaction, OffsetSpan, SegmentFile
from tests.tasks.memory import NOON


def published(number: int, *, rows: int = 10) -> SegmentFile:
    """A small published file of one hour."""
    first = number * rows
    span = OffsetSpan(topic="clicks", partition=0, first=first, last=first + rows - 1, rows=rows)
    return SegmentFile(
        path=f"clicks/data/task-{number}/segment-00000.parquet",
        interval_start=NOON,
        interval_end=NOON + timedelta(hours=1),
        rows=rows,
        size_bytes=100,
        sha256="0" * 64,
        time_min=NOON,
        time_max=NOON,
        spans=(span,),
    )


def compaction(
    compaction_id: str = "c-1", *, data_source: str = "clicks", token: str | None = None
) -> DesiredCompaction:
    """Two files are to become one."""
    return DesiredCompaction(
        compaction_id=compaction_id,
        token=f"token of {compaction_id}" if token is None else token,
        data_source=data_source,
        inputs=tuple(CompactionInput(file=published(n), columns=()) for n in (0, 1)),
        columns=(),
    )


def file_of(compaction_id: str) -> str:
    """The path of the file that a compaction makes."""
    return f"clicks/data/{compaction_id}/segment-00000.parquet"
