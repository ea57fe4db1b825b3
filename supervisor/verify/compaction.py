"""Reads compacted files, once each, and divides their rows among the publications.

    rows of one partition    ■■■■■■■■■ ■■■■■ ■   ■■■■■   sorted by offset
    shares on record         ├─range 1─┤    │    ├─ 3 ─┤  spans of two ranges never overlap
                                            └ of no share: no range published this row

The contents of a file are checked: each share must have as many rows as on record, between the same
offsets.  One file is read at a time, and takes 8 bytes a row, and a few times that while sorted.
Its rows are kept as runs.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from supervisor.verify.files import (
    OFFSET,
    PARTITION,
    RECORDS,
    Chunks,
    as_runs,
    checked,
    offsets_in,
    raw_places_in,
    records_in,
    wrong_records,
)
from supervisor.verify.ledger import LedgerCompactedFile
from supervisor.verify.pieces import PartitionRows, Pieces
from supervisor.verify.verdict import Finding, FindingKind
from tasks.contract.messages import OffsetSpan
from tasks.contract.offsets import TopicPartition

_NOBODYS = -1
"""The share number of rows that belong to no share."""


@dataclass(frozen=True)
class Compacted:
    """The contents of all compacted files of a table."""

    pieces: dict[str, Pieces]
    """Generation -> its rows; forgotten generations are left out."""
    findings: list[Finding]
    spoiled: frozenset[str]
    """Generations with rows in a file that has findings."""


def read_compacted(
    warehouse: Path,
    files: Iterable[LedgerCompactedFile],
    progress: Callable[[int], None] = lambda _: None,
    *,
    raw: bool = False,
) -> Compacted:
    """Read every compacted file of a table; `progress` is called with each number of rows.

    `raw` files belong to the errors table, where other columns hold topic, partition and offset.
    Unreadable rows are a finding, and count as missing.
    """
    compacted = Compacted({}, [], frozenset())
    spoiled: set[str] = set()
    for each in files:
        reading = _CompactedReading(each, compacted.pieces, raw)
        reading.read(warehouse.resolve())
        if reading.findings:
            spoiled |= {owner for owner, _ in each.shares if owner is not None}
        compacted.findings.extend(reading.findings)
        progress(each.file.rows)
    return Compacted(compacted.pieces, compacted.findings, frozenset(spoiled))


@dataclass(frozen=True, order=True)
class _Span:
    """Offsets `[first, end)` of one partition that belong to the share with a number."""

    first: int
    end: int
    at: TopicPartition
    share: int


@dataclass
class _CompactedReading:
    compacted: LedgerCompactedFile
    pieces: dict[str, Pieces]
    raw: bool
    findings: list[Finding] = field(default_factory=list)

    def read(self, warehouse: Path) -> None:
        """Read the file, if it exists, and divide its rows among the shares."""
        file = self.compacted.file
        path = checked(warehouse, file, self._find)
        if path is None:
            return
        try:
            with pq.ParquetFile(path) as opened:
                rows: int = opened.metadata.num_rows
                names = set(opened.schema_arrow.names)
                if self.raw:
                    self._divide(opened, raw_places_in(opened))
                elif names.issuperset({OFFSET, PARTITION}):
                    self._divide(opened, *offsets_in(opened, {}))
                else:
                    self._count(opened if RECORDS in names else None)
        except (pa.ArrowException, OSError, KeyError) as error:
            self._find(FindingKind.DIGEST_MISMATCH, f"{file.path} cannot be read: {error}")
            return
        of_shares = sum(share.rows for _, share in self.compacted.shares)
        if not rows == file.rows == of_shares:
            detail = f"{file.path} has {rows} rows, on record are {file.rows}, of ranges in it"
            self._find(FindingKind.ROW_COUNT, f"{detail} {of_shares}", abs(rows - of_shares))

    def _divide(self, opened: pq.ParquetFile, pieces: Chunks, lacking: int = 0) -> None:
        """Give each row to the share whose span holds its offset."""
        path = self.compacted.file.path
        held: dict[tuple[int, TopicPartition], list[pa.Array]] = {}
        for at in sorted(pieces):
            for span, values in _slices(at, pieces.pop(at), self._spans_at(at)):
                held.setdefault((span.share, span.at), []).append(values)
        for (number, at), chunks in held.items():
            part = PartitionRows(*as_runs(chunks))
            if number == _NOBODYS:
                detail = f"{path} has rows of no range that was published"
                self.findings.append(Finding.at(FindingKind.UNKNOWN_ROW, at, part.rows, detail))
            elif (owner := self.compacted.shares[number][0]) is not None:
                self._of(owner).add(at, part)
        counted = set[int]()
        if lacking:
            counted = self._take_unnamed(opened, lacking, {number for number, _ in held})
        self._compare({key: _extent(chunks) for key, chunks in held.items()}, counted)

    def _take_unnamed(self, opened: pq.ParquetFile, lacking: int, named: set[int]) -> set[int]:
        """Count rows without offsets for rolled-up shares, if the rows have record counts.

        Returns the numbers of these shares: those of which no row has an offset.
        """
        counts = _counts_of_unnamed(opened)
        if unknown := lacking - len(counts):
            detail = f"{self.compacted.file.path} has rows without an offset"
            self._find(FindingKind.UNKNOWN_ROW, detail, unknown)
        if not len(counts):
            return set()
        numbers = set(range(len(self.compacted.shares))) - named
        shares = [self.compacted.shares[number] for number in sorted(numbers)]
        recorded = sum(span.rows for _, share in shares for span in share.spans)
        if (found := pc.sum(counts).as_py()) != recorded:
            self._find(*wrong_records(self.compacted.file, found, recorded))
        for owner, share in shares:
            self._take_word(owner, share.spans)
        return numbers

    def _spans_at(self, at: TopicPartition) -> list[_Span]:
        """Return the spans of all shares in a partition, ascending.

        If the rows name no topic, the partition number alone selects the spans.
        """
        return sorted(
            _Span(span.first, span.last + 1, TopicPartition(span.topic, span.partition), number)
            for number, (_, share) in enumerate(self.compacted.shares)
            for span in share.spans
            if span.partition == at.partition and at.topic in {"?", span.topic}
        )

    def _compare(
        self, held: dict[tuple[int, TopicPartition], tuple[int, int, int]], counted: set[int]
    ) -> None:
        """Compare the rows of each share with the numbers on record."""
        for number, (owner, share) in enumerate(self.compacted.shares):
            if number in counted:
                continue
            recorded = _recorded(share.spans)
            for at in sorted(recorded.keys() | {at for of, at in held if of == number}):
                is_there, on_record = held.get((number, at)), recorded.get(at)
                if is_there != on_record:
                    self._find_difference(owner, at, is_there, on_record)

    def _find_difference(
        self,
        owner: str | None,
        at: TopicPartition,
        is_there: tuple[int, int, int] | None,
        on_record: tuple[int, int, int] | None,
    ) -> None:
        self.findings.append(
            Finding(
                FindingKind.ROW_COUNT,
                f"{self.compacted.file.path}: offsets {_format_extent(is_there)} of "
                f"{owner or 'a forgotten range'}, on record are {_format_extent(on_record)}",
                owner,
                at,
                abs((is_there or (0, 0, 0))[2] - (on_record or (0, 0, 0))[2]),
            )
        )

    def _count(self, opened: pq.ParquetFile | None) -> None:
        """Accept the spans of the shares if the rows stand for as many records.

        None: the rows have neither offsets nor record counts.
        """
        recorded = sum(span.rows for _, share in self.compacted.shares for span in share.spans)
        if opened is not None and (found := records_in(opened)) != recorded:
            self._find(*wrong_records(self.compacted.file, found, recorded))
        for owner, share in self.compacted.shares:
            self._take_word(owner, share.spans if opened is not None else ())

    def _take_word(self, owner: str | None, spans: Sequence[OffsetSpan]) -> None:
        if owner is None:
            return
        pieces = self._of(owner)
        pieces.carries_offsets = False
        for span in spans:
            at = TopicPartition(span.topic, span.partition)
            pieces.count(at, span.rows, (span.first, span.last + 1))

    def _of(self, owner: str) -> Pieces:
        return self.pieces.setdefault(owner, Pieces())

    def _find(self, kind: FindingKind, detail: str, records: int = 0) -> None:
        self.findings.append(Finding(kind, detail, records=records))


def _slices(
    at: TopicPartition, chunks: Sequence[pa.Array], spans: Sequence[_Span]
) -> Iterator[tuple[_Span, pa.Array]]:
    """Yield each offset once, in slices with the span that holds them, or with no share's span."""
    values = pa.concat_arrays(chunks)
    values = values.take(pc.array_sort_indices(values))
    reached = 0
    nobodys = _Span(0, 0, at, _NOBODYS)
    for span in spans:
        first = _index(values, span.first, reached)
        end = _index(values, span.end, first)
        if reached < first:
            yield nobodys, values[reached:first]
        if first < end:
            yield span, values[first:end]
        reached = end
    if reached < len(values):
        yield nobodys, values[reached:]


def _index(values: pa.Array, offset: int, reached: int) -> int:
    return bisect_left(values, offset, lo=reached, key=lambda found: found.as_py())


def _counts_of_unnamed(opened: pq.ParquetFile) -> pa.ChunkedArray:
    """Return the record counts of rows without partition and offset."""
    if RECORDS not in opened.schema_arrow.names:
        return pa.chunked_array([], pa.int64())
    table = opened.read(columns=[OFFSET, PARTITION, RECORDS])
    unnamed = pc.and_(pc.is_null(table[OFFSET]), pc.is_null(table[PARTITION]))
    counts = table[RECORDS].filter(unnamed).drop_null()
    return counts.filter(pc.greater(counts, 0))


def _extent(chunks: Sequence[pa.Array]) -> tuple[int, int, int]:
    """Return the first offset, the last offset and the number of rows."""
    bounds = [pc.min_max(chunk).as_py() for chunk in chunks]
    first, last = min(each["min"] for each in bounds), max(each["max"] for each in bounds)
    return first, last, sum(len(chunk) for chunk in chunks)


def _recorded(spans: Sequence[OffsetSpan]) -> dict[TopicPartition, tuple[int, int, int]]:
    """Return partition -> first offset, last offset and number of rows of the spans on record."""
    extents: dict[TopicPartition, tuple[int, int, int]] = {}
    for span in spans:
        at = TopicPartition(span.topic, span.partition)
        first, last, rows = extents.get(at, (span.first, span.last, 0))
        extents[at] = min(first, span.first), max(last, span.last), rows + span.rows
    return extents


def _format_extent(extent: tuple[int, int, int] | None) -> str:
    return "none" if extent is None else f"{extent[0]}..{extent[1]} ({extent[2]})"
