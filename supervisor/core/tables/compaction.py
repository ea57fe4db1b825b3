"""Which small files of a table are rewritten as one, and what became of that.  Pure.

    files of one table, supervisor, kind of rows and time chunk
        │ small ones, in the order of publication, whose ranges do not overlap
        ▼
    batches of at most the target's rows and bytes ──► one compaction each: one file out

A compaction takes whole files and writes one, so that its file is what its inputs were together:
what each range has in it is known from the rows here, and no reader's word is needed for it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.model.rows import Segment, TaskStatus
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.values.clock_skew import is_over, known_since
from supervisor.core.values.intervals import Interval
from supervisor.core.values.table_names import is_errors_table
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan
from tasks.contract.offsets import TopicPartition
from tasks.rows.discovery import common

FILES_MAX = 500
"""So many files one compaction takes at most: its row, and what its worker is told, are bounded."""
SPANS_MAX = 100_000
"""Of all its files together, one for each partition of each: some 10 MB in what its worker is told,
which takes 64."""
FAILURES_MAX = 3
"""A file that was part of so many failed compactions is left alone for `FAILURES_COUNT_FOR`."""
FAILURES_COUNT_FOR = timedelta(days=1)
LASTS_AT_MOST = timedelta(hours=6)
"""A compaction that has run for longer is given up."""

ROWS_MIN, ROWS_MAX = 2, 100_000_000
BYTES_MAX = 16 * 1024**3
"""What a compacted file may be wanted to have."""


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
    """It failed by itself, or its worker did under it; not because a file was taken out."""
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


@dataclass(frozen=True)
class Target:
    """What one file should become at most; half of it is large enough to be left alone."""

    rows: int
    size_bytes: int
    files_min: int = 2


@dataclass(frozen=True)
class FileSizes:
    """How large the files of a table are to be, at most."""

    rows: int
    size_bytes: int


def file_sizes(tunings: Iterable[TuningConfig]) -> FileSizes:
    """Return what the supervisors of a table publish at most, the highest of each, within bounds.

    Without a supervisor they are the defaults of a spec.
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
    """Files with another kind of rows are never put together: rolled up, or not."""

    @property
    def spans(self) -> Iterator[tuple[TopicPartition, int, int, str]]:
        """Yield partition, first and last offset, and the range that they are of."""
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
    """Return what each range has in a file; `compactions` has the one that wrote it, if one did."""
    if segment.compaction_id is not None:
        return compactions[segment.compaction_id].shares
    return (Share(segment.generation_id, segment.file.rows, segment.file.spans),)


def joined(shares: Iterable[Share]) -> tuple[Share, ...]:
    """Return what each range has in several files together, by range."""
    rows: Counter[str] = Counter()
    spans: dict[str, list[OffsetSpan]] = {}
    for share in shares:
        rows[share.generation_id] += share.rows
        spans.setdefault(share.generation_id, []).extend(share.spans)
    return tuple(Share(each, rows[each], merged(spans[each])) for each in sorted(rows))


def merged(spans: Iterable[OffsetSpan]) -> tuple[OffsetSpan, ...]:
    """Return one span per partition, sorted."""
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
    """Return the columns of the file that takes the place of these, the newest's order first.

    `declared` are those that a spec declares as texts or numbers, as of the table (`common`).
    """
    newest_first = sorted(inputs, key=lambda s: (s.published_at, s.id), reverse=True)
    return common((segment.columns for segment in newest_first), declared)


def batches(
    used: Sequence[Segment],
    target: Target,
    view: Callable[[Segment], Candidate],
    *,
    skip_latest: timedelta = timedelta(0),
    left_out: Collection[str] = (),
) -> Iterator[tuple[Candidate, ...]]:
    """Yield which used files of one table are to become one, chunk by chunk; none twice.

    Chunks that end less than `skip_latest` before the table's latest are left alone, and so are
    segments whose ids are in `left_out`, and those from before their columns were recorded; of
    raw records none are.
    `view` is asked for what may be put together alone: small files of a chunk with several.
    """
    if not used:
        return
    until = max(segment.file.interval_end for segment in used) - skip_latest
    files_min = max(2, target.files_min)
    chunks: dict[tuple[object, ...], list[Segment]] = {}
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
        for candidate in map(view, chunk_segments):
            kinds.setdefault(candidate.kind, []).append(candidate)
        for alike in kinds.values():
            yield from (tuple(b) for b in _packed(alike, target) if len(b) >= files_min)


def _is_small(segment: Segment, target: Target) -> bool:
    return 2 * segment.file.rows < target.rows and 2 * segment.file.size_bytes < target.size_bytes


def _packed(candidates: Sequence[Candidate], target: Target) -> Iterator[list[Candidate]]:
    """First fit, in the order of publication: what was published together stays together."""
    opened: list[_Batch] = []
    for each in sorted(candidates, key=lambda c: (c.segment.published_at, c.segment.id)):
        batch = next((batch for batch in opened if batch.takes(each, target)), None)
        if batch is None:
            batch = _Batch()
            opened.append(batch)
        batch.add(each)
    yield from (batch.files for batch in opened)


def failed_too_often(ended: Iterable[Compaction], now: datetime) -> set[str]:
    """Return the segments that several compactions could not read or write of late."""
    failures: Counter[str] = Counter()
    for each in ended:
        ended_at = each.ended_at
        if each.blamed and ended_at and not is_over(ended_at, FAILURES_COUNT_FOR, now):
            failures.update(each.inputs)
    return {segment for segment, number in failures.items() if number >= FAILURES_MAX}


def why_lost(
    row: Compaction, views: Mapping[str, WorkerView], now: datetime, led_since: datetime
) -> str:
    """Return why a compaction will not end by itself; empty: it may."""
    if not row.worker_id:
        return ""
    view = views.get(row.worker_id)
    if view is not None and view.incarnation > row.incarnation:
        return f"worker {row.worker_id} was started again"
    if view is not None and view.liveness is Liveness.LOST:
        return f"worker {row.worker_id} is lost"
    if row.assigned_at is None:
        return ""
    # Another leader may have given it out, by a clock that differs: then it counts from our term.
    ran = now - known_since(row.assigned_at, now, led_since)
    if ran <= LASTS_AT_MOST:
        return ""
    return f"it ran for more than {LASTS_AT_MOST // timedelta(hours=1)} hours"
