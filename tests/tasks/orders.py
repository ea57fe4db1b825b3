"""Compactions and samples as an overlord asks for them, of what only a memory engine knows."""

from datetime import timedelta

from tasks.contract.messages import CompactionInput, DesiredCompaction, OffsetSpan, SegmentFile
from tasks.contract.sample import BYTES_MAX, DesiredSample
from tests.tasks.memory import NOON, at, desired


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


def sample(name: str, *, servers: str = "broker:9092", within_s: float = 60) -> DesiredSample:
    """Five records of one partition."""
    return DesiredSample(
        sample_id=name,
        token=f"token of {name}",
        spec=desired(servers=servers).spec,
        earliest=at(0),
        latest=at(5),
        newest=False,
        rows=5,
        size_bytes=BYTES_MAX,
        within=timedelta(seconds=within_s),
    )
