"""The table's side of the proof: published Parquet files, read without the code that wrote them.

One publication is read at a time: 8 bytes a row, and a few times that while sorted.  Compacted
files belong to several publications, and are read in `compaction.py`.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from supervisor.verify.facts import PartitionContents
from supervisor.verify.ledger import CheckedPublication
from supervisor.verify.pieces import PartitionRows, Pieces
from supervisor.verify.runs import Runs
from supervisor.verify.verdict import Finding, FindingKind
from tasks.contract.messages import OffsetSpan, RejectsFile, SegmentFile
from tasks.contract.offsets import TopicPartition

OFFSET, PARTITION, TOPIC = "__offset", "__partition", "__topic"
_RAW_PLACE = ("topic", "partition", "offset")
RECORDS = "__count"
"""The column with the number of records that a rolled-up row stands for."""
THROWN_AWAY = frozenset({"null-value", "filtered", "before-minimum-time", "after-maximum-time"})
"""Reject reasons of good records that the spec leaves out."""
BATCH_ROWS = 200_000
"""The maximum of rows that are read at once."""
_CHUNK_BYTES = 1 << 20

Chunks = dict[TopicPartition, list[pa.Array]]
"""Offsets by partition, unordered."""


@dataclass
class PublicationContent:
    """The contents of the files of one publication."""

    held: dict[TopicPartition, PartitionContents] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    bad: dict[TopicPartition, Runs] = field(default_factory=dict)
    """Rejects that are bad records, which a quarantine keeps."""


def read_publication(
    warehouse: Path,
    publication: CheckedPublication,
    progress: Callable[[int], None],
    pieces: Pieces | None = None,
) -> PublicationContent:
    """Read the used files of one publication; `progress` is called with each number of rows.

    `pieces` are its rows in compacted files.  Unreadable rows are a finding, and count as missing.
    """
    reading = _FilesReading(warehouse, publication, pieces or Pieces())
    for segment in publication.segments:
        reading.take(segment)
        progress(segment.rows)
    for rejects in publication.rejects_files():
        reading.take_rejects(rejects)
    return reading.content()


class _FilesReading:
    def __init__(self, warehouse: Path, publication: CheckedPublication, pieces: Pieces) -> None:
        self._warehouse = warehouse.resolve()
        self._publication = publication
        self._pieces = pieces
        self._topics = {p.partition: p.topic for p in publication.start}
        self._chunks: Chunks = {}
        self._rejects: dict[TopicPartition, list[tuple[int, int]]] = {}
        self._bad: dict[TopicPartition, list[tuple[int, int]]] = {}
        self._findings: list[Finding] = []
        self._counted = Counter(pieces.counted)
        self._bounds = {at: list(pairs) for at, pairs in pieces.bounds.items()}
        self._offsets_missing = not pieces.carries_offsets

    def take(self, segment: SegmentFile) -> None:
        path = self._checked(segment)
        if path is None:
            return
        try:
            with pq.ParquetFile(path) as file:
                rows: int = file.metadata.num_rows
                names = set(file.schema_arrow.names)
                if names.issuperset({OFFSET, PARTITION}):
                    self._take_offsets(file, segment)
                else:
                    self._offsets_missing = True
                    if RECORDS in names:
                        self._take_counts(file, segment)
        except (pa.ArrowException, OSError) as error:
            self._find(FindingKind.DIGEST_MISMATCH, f"{segment.path} is no Parquet: {error}")
            return
        if rows != segment.rows:
            self._find(
                FindingKind.ROW_COUNT,
                f"{segment.path} has {rows} rows, on record are {segment.rows}",
                records=abs(rows - segment.rows),
            )

    def _take_offsets(self, file: pq.ParquetFile, segment: SegmentFile) -> None:
        offsets, lacking = offsets_in(file, self._topics)
        if lacking:
            detail = f"{segment.path} has rows without an offset"
            self._find(FindingKind.UNKNOWN_ROW, detail, records=lacking)
        for at, chunks in offsets.items():
            self._chunks.setdefault(at, []).extend(chunks)
        self._compare_spans(segment, offsets)

    def _take_counts(self, file: pq.ParquetFile, segment: SegmentFile) -> None:
        """Accept the spans of a file if its rows stand for as many records."""
        recorded = sum(span.rows for span in segment.spans)
        if (found := records_in(file)) != recorded:
            self._find(*wrong_records(segment, found, recorded))
        for span in segment.spans:
            at = TopicPartition(span.topic, span.partition)
            self._counted[at] += span.rows
            self._bounds.setdefault(at, []).append((span.first, span.last + 1))

    def _compare_spans(self, segment: SegmentFile, pieces: Chunks) -> None:
        actual = {span_of(at, chunks) for at, chunks in pieces.items()}
        recorded = set(segment.spans)
        if recorded and actual != recorded:
            self._find(
                FindingKind.ROW_COUNT,
                f"{segment.path}: offsets {format_spans(actual)}, "
                f"on record are {format_spans(recorded)}",
            )

    def take_rejects(self, rejects: RejectsFile) -> None:
        path = self._checked(rejects)
        if path is None:
            return
        columns = ["topic", "partition", "first", "last", "reason"]
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                    values = (batch.column(name).to_pylist() for name in columns)
                    for topic, number, first, last, reason in zip(*values, strict=True):
                        at = TopicPartition(topic, number)
                        self._rejects.setdefault(at, []).append((first, last + 1))
                        if reason not in THROWN_AWAY:
                            self._bad.setdefault(at, []).append((first, last + 1))
        except (pa.ArrowException, OSError, KeyError, TypeError) as error:
            self._find(FindingKind.DIGEST_MISMATCH, f"{rejects.path} lists no rejects: {error}")

    def content(self) -> PublicationContent:
        """Return the collected contents by partition."""
        held: dict[TopicPartition, PartitionContents] = {}
        of_files = self._chunks.keys() | self._counted.keys() | self._rejects.keys()
        for at in self._publication.start.keys() | of_files | self._pieces.partitions():
            part = PartitionRows(*as_runs(self._chunks.pop(at, []))) + self._pieces.part(at)
            pairs = sorted(self._rejects.get(at, []))
            twice = Runs(_overlaps(pairs))
            held[at] = PartitionContents(
                part.rows,
                part.repeated | twice,
                part.surplus + twice.count(),
                Runs(pairs),
                carries_offsets=not self._offsets_missing,
                counted=self._counted[at] if self._offsets_missing else None,
                bounds=Runs.unsorted(self._bounds.get(at, [])),
            )
        self._compare_counts()
        bad = {at: Runs.unsorted(pairs) for at, pairs in self._bad.items()}
        return PublicationContent(held, self._findings, bad)

    def _compare_counts(self) -> None:
        publication = self._publication
        of_files = sum(segment.rows for segment in publication.segments)
        of_files += publication.let_go_rows()
        of_files += sum(each.rows for each in publication.compacted)
        listed = sum(rejects.records for rejects in publication.rejects_files())
        actual = sum(end - first for pairs in self._rejects.values() for first, end in pairs)
        for what, claimed, counted in (
            ("rows; its files on record", publication.rows, of_files),
            ("rejected records; its rejects file on record", publication.rejected, listed),
            ("listed rejects; the rejects file itself", listed, actual),
        ):
            if claimed != counted:
                detail = f"the publication counts {claimed} {what} {counted}"
                self._find(FindingKind.ROW_COUNT, detail, records=abs(claimed - counted))

    def _checked(self, file: SegmentFile | RejectsFile) -> Path | None:
        """Return the path of a file, None if it is missing; record differences as findings."""
        return checked(self._warehouse, file, self._find)

    def _find(self, kind: FindingKind, detail: str, records: int = 0) -> None:
        generation = self._publication.generation_id
        self._findings.append(Finding(kind, detail, generation, records=records))


def checked(
    warehouse: Path, file: SegmentFile | RejectsFile, find: Callable[[FindingKind, str], None]
) -> Path | None:
    """Return the path of a file, None if it is missing; call `find` with each difference."""
    path = (warehouse / file.path).resolve()
    if not path.is_relative_to(warehouse):
        find(FindingKind.MISSING_FILE, f"{file.path} leads out of the warehouse")
        return None
    try:
        size = path.stat().st_size
        digest = _sha256(path)
    except OSError as error:
        find(FindingKind.MISSING_FILE, f"{file.path}: {error.strerror}")
        return None
    if (size, digest) != (file.size_bytes, file.sha256):
        find(
            FindingKind.DIGEST_MISMATCH,
            f"{file.path} has {size} bytes and sha256 {digest}, "
            f"published were {file.size_bytes} bytes and {file.sha256}",
        )
    return path


def offsets_in(file: pq.ParquetFile, topics: Mapping[int, str]) -> tuple[Chunks, int]:
    """Return the offsets of a file's rows, and the number of rows without one.

    In a file without a topic column, `topics` maps the partition's number to its topic; an unknown
    topic is `?`.
    """
    chunks: Chunks = {}
    lacking = 0
    own = [TOPIC] if TOPIC in file.schema_arrow.names else []
    for batch in file.iter_batches(BATCH_ROWS, columns=[PARTITION, OFFSET, *own]):
        for topic, part in _by_topic(batch) if own else [(None, batch)]:
            partitions, offsets = part.column(PARTITION), part.column(OFFSET)
            lacking += pc.sum(pc.or_(pc.is_null(partitions), pc.is_null(offsets))).as_py() or 0
            for number in pc.unique(partitions).drop_null().to_pylist():
                of_it = offsets.filter(pc.equal(partitions, number)).drop_null()
                at = TopicPartition(topic or topics.get(number, "?"), number)
                chunks.setdefault(at, []).append(of_it.cast(pa.int64()))
    return chunks, lacking


def raw_places_in(file: pq.ParquetFile) -> Chunks:
    """Return the offsets of a file of raw records.

    Raises:
        KeyError: the file has no columns of raw records.
    """
    chunks: Chunks = {}
    for batch in file.iter_batches(BATCH_ROWS, columns=list(_RAW_PLACE)):
        topics, partitions, offsets = (batch.column(name) for name in _RAW_PLACE)
        for topic in pc.unique(topics).to_pylist():
            of_topic = pc.equal(topics, topic)
            numbers, places = partitions.filter(of_topic), offsets.filter(of_topic)
            for number in pc.unique(numbers).to_pylist():
                part = places.filter(pc.equal(numbers, number)).cast(pa.int64())
                chunks.setdefault(TopicPartition(topic, number), []).append(part)
    return chunks


def records_in(file: pq.ParquetFile) -> int | None:
    """Return how many records a file's rows stand for; None: some row has no count."""
    counts = file.read(columns=[RECORDS])[RECORDS]
    if counts.null_count or (pc.min(counts).as_py() or 0) < 1:
        return None
    return int(pc.sum(counts).as_py())


def wrong_records(
    file: SegmentFile, counted: int | None, recorded: int
) -> tuple[FindingKind, str, int]:
    """Return kind, text and number of a finding: `counted` records differ from those on record."""
    count_text = "an unknown number of records" if counted is None else f"{counted} records"
    detail = f"{file.path}: its rows stand for {count_text}, on record are {recorded}"
    return FindingKind.ROW_COUNT, detail, recorded if counted is None else abs(counted - recorded)


def _by_topic(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Divide rows by their topic; rows without one are of topic `?`."""
    topics = pc.fill_null(batch.column(TOPIC), "?")
    for topic in pc.unique(topics).to_pylist():
        yield topic, batch.filter(pc.equal(topics, topic))


def as_runs(chunks: Sequence[pa.Array]) -> tuple[Runs, Runs, int]:
    """Return the offsets as runs, the repeated offsets, and the number of surplus values."""
    values = pa.concat_arrays(chunks) if chunks else pa.array([], pa.int64())
    if len(values) == 0:
        return Runs(), Runs(), 0
    values = values.take(pc.array_sort_indices(values))
    steps = pc.subtract(values[1:], values[:-1])
    again = values[1:].filter(pc.equal(steps, 0))
    repeated = Runs((offset, offset + 1) for offset in again.to_pylist())
    breaks = pc.greater(steps, 1)
    firsts = array("q", [values[0].as_py(), *values[1:].filter(breaks).to_pylist()])
    lasts = array("q", [*values[:-1].filter(breaks).to_pylist(), values[-1].as_py()])
    runs = Runs((first, last + 1) for first, last in zip(firsts, lasts, strict=True))
    return runs, repeated, len(again)


def _overlaps(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the overlap of each ascending run with the runs before it."""
    reached = 0
    for first, end in pairs:
        yield first, min(end, reached)
        reached = max(reached, end)


def span_of(at: TopicPartition, chunks: Sequence[pa.Array]) -> OffsetSpan:
    """Return the bounds and number of a partition's offsets; without any, both bounds are -1."""
    bounds = pc.min_max(pa.chunked_array(chunks, pa.int64())).as_py()
    return OffsetSpan(
        topic=at.topic,
        partition=at.partition,
        first=-1 if bounds["min"] is None else bounds["min"],
        last=-1 if bounds["max"] is None else bounds["max"],
        rows=sum(len(chunk) for chunk in chunks),
    )


def format_spans(spans: set[OffsetSpan]) -> str:
    """Return spans as text for people."""
    ordered = sorted(spans, key=lambda s: (s.topic, s.partition))
    return ", ".join(f"{s.topic}:{s.partition} {s.first}..{s.last} ({s.rows})" for s in ordered)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
