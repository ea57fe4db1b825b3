"""Compaction rules: which small files of a table are rewritten as one file.  Pure.

    files of one table, supervisor, kind of rows and time chunk
        │ small ones, in the order of publication, whose ranges do not overlap
        ▼
    batches of at most the target's rows and bytes ──► one compaction each: one file out

A compaction takes whole files and writes one file with the same rows.  So the share of each range
in the new file follows from the database rows of the inputs, and no worker has to report it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.model.rows import Segment, TaskStatus
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.tables.totals import SmallBelow
from supervisor.core.values.clock_skew import is_over, known_since
from supervisor.core.values.intervals import Interval
from supervisor.core.values.table_names import is_errors_table
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan
from tasks.contract.offsets import TopicPartition
from tasks.rows.discovery import common

FILES_MAX = 500
"""Input files of one compaction at most; bounds its row and the message to its worker."""
SPANS_MAX = 100_000
"""Offset spans of all input files together, one per file and partition: some 10 MB of the message
to the worker, whose limit is 64 MB."""
FAILURES_MAX = 3
"""Failed compactions after which a file is left alone for `FAILURES_COUNT_FOR`."""
FAILURES_COUNT_FOR = timedelta(days=1)
LASTS_AT_MOST = timedelta(hours=6)
"""A compaction that has run for longer is given up."""

ROWS_MIN, ROWS_MAX = 2, 100_000_000
BYTES_MAX = 16 * 1024**3
"""Bounds of the target size of a compacted file."""


@dataclass(frozen=True)
class Share:
    """The share of one published range in a file."""

    generation_id: str
    rows: int
    spans: tuple[OffsetSpan, ...]
    """The offsets of the range's rows in the file."""


@dataclass(frozen=True)
class Compaction:
    """One attempt to replace files by one; the row is the write intent of its folder (P23)."""

    id: str
    data_source: str
    supervisor_id: str
    interval: Interval
    inputs: tuple[str, ...]
    """Ids of the input segments."""
    columns: tuple[Column, ...]
    """Columns of the new file."""
    shares: tuple[Share, ...]
    reason: str
    created_at: datetime
    status: TaskStatus = TaskStatus.RUNNING
    worker_id: str = ""
    """Empty: the compaction waits for a worker."""
    incarnation: int = 0
    """Incarnation of the worker when the compaction was assigned."""
    token: str = field(default="", repr=False)
    assigned_at: datetime | None = None
    ended_at: datetime | None = None
    detail: str = ""
    """The reason of a failure, or a summary of the result."""
    blamed: bool = False
    """Whether the compaction or its worker failed, rather than an input having left the table."""
    folder_deleted_at: datetime | None = None

    @property
    def live(self) -> bool:
        """Whether the compaction waits or runs."""
        return self.status is TaskStatus.RUNNING


@dataclass(frozen=True)
class Attempt:
    """A compaction without its columns and shares, which may be long."""

    inputs: tuple[str, ...]
    ended_at: datetime | None = None
    blamed: bool = False


@dataclass(frozen=True)
class CompactionRule:
    """The rule of a table for automatic compaction of its small files."""

    data_source: str
    skip_offset_from_latest: timedelta
    """Chunks that end less than this before the table's latest one are left alone."""
    target_rows: int
    target_bytes: int
    files_min: int
    """Minimum number of small files in one chunk for a compaction."""
    author: str
    set_at: datetime


@dataclass(frozen=True)
class Target:
    """Maximum size of a compacted file; a file of half this size is left alone."""

    rows: int
    size_bytes: int
    files_min: int = 2


@dataclass(frozen=True)
class FileSizes:
    """Maximum size of the files of a table."""

    rows: int
    size_bytes: int


def small_below(sizes: FileSizes) -> SmallBelow:
    """Return below what size files are compacted without a request of its own."""
    return SmallBelow(ceil(sizes.rows / 2), ceil(sizes.size_bytes / 2))


def file_sizes(tunings: Iterable[TuningConfig]) -> FileSizes:
    """Return the highest rows and bytes that a table's supervisors publish per file, within bounds.

    Without a supervisor the defaults of a spec count.
    """
    found = list(tunings) or [TuningConfig()]
    rows = max(tuning.max_rows_per_segment for tuning in found)
    size_bytes = max(tuning.target_segment_bytes for tuning in found)
    return FileSizes(min(max(rows, ROWS_MIN), ROWS_MAX), min(size_bytes, BYTES_MAX))


@dataclass(frozen=True)
class Candidate:
    """One used file of a table, as the planner sees it."""

    segment: Segment
    shares: tuple[Share, ...]
    kind: Hashable = None
    """Kind of rows (rolled up or not); files of different kinds are never compacted together."""

    @property
    def spans(self) -> Iterator[tuple[TopicPartition, int, int, str]]:
        """Yield (partition, first offset, last offset, generation id)."""
        for share in self.shares:
            for span in share.spans:
                at = TopicPartition(span.topic, span.partition)
                yield at, span.first, span.last, share.generation_id


@dataclass
class _Batch:
    files: list[Candidate] = field(default_factory=list)
    rows: int = 0
    size_bytes: int = 0
    spans: int = 0
    held: dict[TopicPartition, list[tuple[int, int, str]]] = field(default_factory=dict)

    def takes(self, candidate: Candidate, target: Target) -> bool:
        file = candidate.segment.file
        return (
            len(self.files) < FILES_MAX
            and self.spans + len(file.spans) <= SPANS_MAX
            and self.rows + file.rows <= target.rows
            and self.size_bytes + file.size_bytes <= target.size_bytes
            and not any(
                first <= high and low <= last
                for at, first, last, generation in candidate.spans
                for low, high, other in self.held.get(at, ())
                if other != generation
            )
        )

    def add(self, candidate: Candidate) -> None:
        self.files.append(candidate)
        self.rows += candidate.segment.file.rows
        self.size_bytes += candidate.segment.file.size_bytes
        self.spans += len(candidate.segment.file.spans)
        for at, first, last, generation in candidate.spans:
            self.held.setdefault(at, []).append((first, last, generation))


def shares_of(segment: Segment, compactions: Mapping[str, Compaction]) -> tuple[Share, ...]:
    """Return the shares of a segment; `compactions`: id -> compaction, of those that wrote one."""
    if segment.compaction_id is not None:
        return compactions[segment.compaction_id].shares
    return (Share(segment.generation_id, segment.file.rows, segment.file.spans),)


def joined(shares: Iterable[Share]) -> tuple[Share, ...]:
    """Return the shares of several files together: one per range, sorted by generation id."""
    rows: Counter[str] = Counter()
    spans: dict[str, list[OffsetSpan]] = {}
    for share in shares:
        rows[share.generation_id] += share.rows
        spans.setdefault(share.generation_id, []).extend(share.spans)
    return tuple(Share(each, rows[each], merged(spans[each])) for each in sorted(rows))


def merged(spans: Iterable[OffsetSpan]) -> tuple[OffsetSpan, ...]:
    """Return one span per partition, from the first offset to the last, sorted by partition."""
    by_partition: dict[tuple[str, int], OffsetSpan] = {}
    for span in spans:
        at = (span.topic, span.partition)
        was = by_partition.get(at, span)
        by_partition[at] = OffsetSpan(
            topic=span.topic,
            partition=span.partition,
            first=min(was.first, span.first),
            last=max(was.last, span.last),
            rows=span.rows if at not in by_partition else was.rows + span.rows,
        )
    return tuple(by_partition[at] for at in sorted(by_partition))


def columns_of(inputs: Sequence[Segment], declared: Collection[str] = ()) -> tuple[Column, ...]:
    """Return the columns of the file that replaces `inputs`, first in the order of the newest.

    `declared`: names of columns that a spec declares as texts or numbers (`common`).
    """
    newest_first = sorted(inputs, key=lambda s: (s.published_at, s.id), reverse=True)
    return common((segment.columns for segment in newest_first), declared)


def batches(
    used: Sequence[ListedSegment],
    target: Target,
    view: Callable[[Sequence[ListedSegment]], Sequence[Candidate]],
    *,
    skip_latest: timedelta = timedelta(0),
    left_out: Collection[str] = (),
) -> Iterator[tuple[Candidate, ...]]:
    """Yield batches of used files of one table that should become one file, chunk by chunk.

    Left alone are chunks that end less than `skip_latest` before the table's latest, segments whose
    ids are in `left_out`, and segments without recorded columns (except those of an errors table).
    `view` is called with the small files of one chunk that has at least `target.files_min` of them.
    """
    if not used:
        return
    until = max(segment.file.interval_end for segment in used) - skip_latest
    files_min = max(2, target.files_min)
    chunks: dict[tuple[object, ...], list[ListedSegment]] = {}
    for segment in used:
        file = segment.file
        known = segment.columns or is_errors_table(segment.data_source)
        may = known and segment.id not in left_out and file.interval_end <= until
        if may and _is_small(segment, target):
            key = (file.interval_start, file.interval_end, segment.supervisor_id)
            chunks.setdefault(key, []).append(segment)
    for chunk_segments in chunks.values():
        if len(chunk_segments) < files_min:
            continue
        kinds: dict[Hashable, list[Candidate]] = {}
        for candidate in view(chunk_segments):
            kinds.setdefault(candidate.kind, []).append(candidate)
        for alike in kinds.values():
            yield from (tuple(b) for b in _packed(alike, target) if len(b) >= files_min)


def _is_small(segment: ListedSegment, target: Target) -> bool:
    return 2 * segment.file.rows < target.rows and 2 * segment.file.size_bytes < target.size_bytes


def _packed(candidates: Sequence[Candidate], target: Target) -> Iterator[list[Candidate]]:
    """Pack files by first fit, in the order of publication, so that neighbours stay together."""
    opened: list[_Batch] = []
    for each in sorted(candidates, key=lambda c: (c.segment.published_at, c.segment.id)):
        batch = next((batch for batch in opened if batch.takes(each, target)), None)
        if batch is None:
            batch = _Batch()
            opened.append(batch)
        batch.add(each)
    yield from (batch.files for batch in opened)


def failed_too_often(ended: Iterable[Attempt | Compaction], now: datetime) -> set[str]:
    """Return the ids of segments with `FAILURES_MAX` failed compactions in `FAILURES_COUNT_FOR`."""
    failures: Counter[str] = Counter()
    for each in ended:
        ended_at = each.ended_at
        if each.blamed and ended_at and not is_over(ended_at, FAILURES_COUNT_FOR, now):
            failures.update(each.inputs)
    return {segment for segment, number in failures.items() if number >= FAILURES_MAX}


def why_lost(
    row: Compaction, views: Mapping[str, WorkerView], now: datetime, led_since: datetime
) -> str:
    """Return the reason to give a compaction up; empty: it may still end by itself."""
    if not row.worker_id:
        return ""
    view = views.get(row.worker_id)
    if view is not None and view.incarnation > row.incarnation:
        return f"worker {row.worker_id} was started again"
    if view is not None and view.liveness is Liveness.LOST:
        return f"worker {row.worker_id} is lost"
    if row.assigned_at is None:
        return ""
    # If another leader assigned it, by a clock that differs, the time counts from our term.
    ran = now - known_since(row.assigned_at, now, led_since)
    if ran <= LASTS_AT_MOST:
        return ""
    return f"it ran for more than {LASTS_AT_MOST // timedelta(hours=1)} hours"
