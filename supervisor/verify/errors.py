"""Verification of the errors table: it has each bad record of a range once, and no other record.

    rejects file   bad offsets ─────────────┐
    errors files   offsets of their rows ───┴─ the same, but for files that were dropped

Another check decides which records of the topic are rejects.  Together they prove that the errors
table has every unreadable record of the topic.
"""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.verify.dropped import LetGo, explain
from supervisor.verify.files import Chunks, as_runs, checked, format_spans, raw_places_in, span_of
from supervisor.verify.ledger import CheckedPublication
from supervisor.verify.pieces import PartitionRows, Pieces
from supervisor.verify.runs import NOTHING, Runs
from supervisor.verify.verdict import Finding, FindingKind
from tasks.contract.messages import SegmentFile
from tasks.contract.offsets import TopicPartition


def read_errors(
    warehouse: Path,
    publication: CheckedPublication,
    bad: Mapping[TopicPartition, Runs],
    pieces: Pieces | None = None,
) -> list[Finding]:
    """Compare the errors files of one publication with its bad rejects.

    `pieces` are its rows in compacted files.  A publication without a count of quarantined records
    may lack some, but must not have others.
    """
    reading = _ErrorsReading(warehouse.resolve(), publication, pieces or Pieces())
    for file in publication.errors:
        reading.take(file)
    reading.compare_number()
    for at in sorted(bad.keys() | reading.chunks.keys() | reading.pieces.partitions()):
        reading.compare(at, bad.get(at, NOTHING))
    return reading.findings


class _ErrorsReading:
    def __init__(self, warehouse: Path, publication: CheckedPublication, pieces: Pieces) -> None:
        self._warehouse = warehouse
        self.pieces = pieces
        self._publication = publication
        counts = [rejects.quarantined for rejects in publication.rejects_files()]
        known = [count for count in counts if count is not None]
        self._kept = sum(known) if counts and len(known) == len(counts) else None
        self._let_go = publication.dropped_errors()
        self.chunks: Chunks = {}
        self.findings: list[Finding] = []

    def take(self, file: SegmentFile) -> None:
        """Read the offsets of one file."""
        path = checked(self._warehouse, file, self._find)
        if path is None:
            return
        try:
            with pq.ParquetFile(path) as opened:
                offsets = raw_places_in(opened)
        except (pa.ArrowException, OSError, KeyError) as error:
            self._find(FindingKind.DIGEST_MISMATCH, f"{file.path} holds no records: {error}")
            return
        for at, chunks in offsets.items():
            self.chunks.setdefault(at, []).extend(chunks)
        actual = {span_of(at, chunks) for at, chunks in offsets.items()}
        if actual != set(file.spans):
            self._find(
                FindingKind.ROW_COUNT,
                f"{file.path}: offsets {format_spans(actual)}, "
                f"on record are {format_spans(set(file.spans))}",
            )

    def compare_number(self) -> None:
        """Compare the count of the publication with the files on record."""
        of_files = self._publication.quarantined()
        of_files += self._publication.let_go_errors()
        if self._kept is not None and self._kept != of_files:
            detail = (
                f"{self._kept} quarantined records are reported, files on record have {of_files}"
            )
            self._find(FindingKind.ROW_COUNT, detail)

    def compare(self, at: TopicPartition, bad: Runs) -> None:
        """Compare the records of one partition."""
        part = PartitionRows(*as_runs(self.chunks.get(at, []))) + self.pieces.part(at)
        lacking, excess = NOTHING, 0
        if self._kept is not None:
            dropped: list[LetGo] = self._let_go.get(at, [])
            explained = explain(bad - part.rows, NOTHING, dropped)
            lacking, excess = explained.lost, explained.excess
        generation = self._publication.generation_id
        for kind, offsets, detail in (
            (FindingKind.LOST_WRITE, lacking, "bad records are not in the errors table"),
            (
                FindingKind.DUPLICATE,
                part.repeated,
                f"the errors table has {part.surplus} rows too many",
            ),
            (
                FindingKind.UNKNOWN_ROW,
                part.rows - bad,
                "the errors table has records that are not bad",
            ),
        ):
            if offsets:
                self.findings.append(Finding.at(kind, at, offsets, detail, generation))
        if excess:
            self._find(
                FindingKind.ROW_COUNT, f"{at}: {excess} dropped errors are there all the same"
            )

    def _find(self, kind: FindingKind, detail: str) -> None:
        self.findings.append(Finding(kind, detail, self._publication.generation_id))
