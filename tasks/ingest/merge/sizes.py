"""Layout of a merge: how many files it writes, and which rows each of its Spark tasks gets.

    few rows in all ──────────────────────► one task: a file for each time chunk
    more ─► rows per chunk ─┬─ large chunk ► several tasks of its own, each some of the files
                            └─ small ones ─► neighbours share one task: a file for each of them

A small chunk is never divided between tasks, because late rows of many hours would become as many
files per task.  Nothing is shuffled: tasks read whole files, and drop the rows of other tasks.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.contract.ingest_spec import Tuning
from tasks.ingest.decode.chunks import TIME_MAX, Chunks, Interval
from tasks.ingest.decode.transform import micros
from tasks.ingest.write.files import total_rows
from tasks.ports import DataFile

PART_ROWS_MIN = 50_000
"""A file with so many rows is large enough to become a row group of a larger file, unchanged."""
_PARALLEL_ROWS = 1_000_000
"""Idle cores are used as long as each core writes so many rows."""
_CHUNKS_MAX = 1_000
"""The most chunks of a batch in the journal: those that may become full."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FileTarget:
    """The largest size of a published file: a strict bound in rows, an approximate one in bytes."""

    rows: int
    size_bytes: int

    def files_for(self, rows: int, size_bytes: float) -> int:
        """Return the number of files for so many rows and bytes, at least 1."""
        return max(1, -(-rows // self.rows), -int(-size_bytes // self.size_bytes))


@dataclass(frozen=True)
class FileChunks:
    """A file with the number of its rows in each chunk; a chunk is named by its start."""

    file: DataFile
    rows: Mapping[datetime, int]

    def within(self, chunks: frozenset[datetime]) -> "FileChunks":
        """Return the same file with some of its chunks only."""
        if len(chunks) < len(self.rows):
            return FileChunks(self.file, {c: self.rows[c] for c in chunks if c in self.rows})
        return FileChunks(self.file, {c: n for c, n in self.rows.items() if c in chunks})

    @property
    def total(self) -> int:
        """The number of these rows."""
        return sum(self.rows.values())


@dataclass(frozen=True)
class FileShare:
    """The part of one Spark task: the rows of some files, from `since` and before `until`."""

    files: tuple[DataFile, ...]
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Layout:
    """All parts that a merge writes; each row is in one part."""

    parts: tuple[FileShare, ...]
    rows_max: int
    """Most rows per file for the rows of one part in one chunk."""


def target_of(tuning: Tuning) -> FileTarget:
    """Return the file size that a spec wants."""
    return FileTarget(tuning.segment_rows_max, tuning.segment_bytes)


def may_stay(files: Sequence[DataFile], chunks: Chunks, target: FileTarget) -> bool:
    """Return whether files are good segments as they are.

    Each file lies in one time chunk and is not too large, and no chunk has more than twice the
    files that it needs: so their mean size is at least half of a merged file's.
    """
    rows: Counter[Interval] = Counter()
    size: Counter[Interval] = Counter()
    number: Counter[Interval] = Counter()
    for file in files:
        chunk = chunks.of(file.time_min)
        if chunk != chunks.of(file.time_max) or _pieces(file, target) > 1:
            return False
        rows[chunk] += file.rows
        size[chunk] += file.size_bytes
        number[chunk] += 1
    return all(n <= 2 * target.files_for(rows[c], size[c]) for c, n in number.items())


def is_part(file: DataFile, chunks: Chunks, target: FileTarget) -> bool:
    """Return whether a file may be part of a segment unchanged: large, and in one time chunk."""
    alone = chunks.of(file.time_min) == chunks.of(file.time_max)
    return alone and file.rows >= PART_ROWS_MIN and _pieces(file, target) == 1


def packed(
    files: Sequence[DataFile], chunks: Chunks, target: FileTarget
) -> list[tuple[DataFile, ...]]:
    """Group files of one chunk each, by time; each group becomes one file.

    A group has at most the target's rows, and about its bytes at most.
    """
    of: dict[Interval, list[DataFile]] = {}
    for file in sorted(files, key=lambda file: (file.time_min, file.path)):
        of.setdefault(chunks.of(file.time_min), []).append(file)
    groups: list[tuple[DataFile, ...]] = []
    for alike in of.values():
        rows, size = total_rows(alike), sum(file.size_bytes for file in alike)
        groups += _packs(alike, rows / target.files_for(rows, size), target)
    return groups


def _packs(
    files: Sequence[DataFile], share: float, target: FileTarget
) -> list[tuple[DataFile, ...]]:
    packs: list[list[DataFile]] = [[]]
    before = 0
    for file in files:
        too_many = total_rows(packs[-1]) + file.rows > target.rows
        if packs[-1] and (too_many or before >= share * len(packs)):
            packs.append([])
        packs[-1].append(file)
        before += file.rows
    return [tuple(pack) for pack in packs]


def fullest(files: Sequence[DataFile], chunks: Chunks, warehouse: Path) -> dict[str, int]:
    """Return start of a chunk -> its rows in files, for the 1,000 chunks with most rows.

    Reads the times in files that lie in several chunks.
    """
    rows: Counter[datetime] = Counter()
    for file in files:
        rows.update(_held(file, chunks, warehouse).rows)
    return {start.isoformat(): number for start, number in rows.most_common(_CHUNKS_MAX)}


def lay_out(
    files: Sequence[DataFile],
    chunks: Chunks,
    target: FileTarget,
    *,
    cores: int,
    warehouse: Path,
) -> Layout:
    """Decide which tasks write the rows of `files`, and how large their files are.

    Reads the times in files that lie in several chunks, if there is anything to divide.
    """
    rows, size = total_rows(files), sum(file.size_bytes for file in files)
    if target.files_for(rows, size) == 1 and _at_once(rows, cores) == 1:
        return Layout((FileShare(tuple(files)),), target.rows)
    return divided([_held(file, chunks, warehouse) for file in files], target, cores)


def divided(held: Sequence[FileChunks], target: FileTarget, cores: int) -> Layout:
    """Do the same from known rows per chunk.  Pure."""
    amounts = _summed(held)
    tasks = {
        chunk: max(target.files_for(rows, size), _at_once(rows, cores))
        for chunk, (rows, size) in amounts.items()
    }
    rows_of = {chunk: rows for chunk, (rows, _) in amounts.items()}
    runs = _runs(rows_of, tasks, -(-sum(rows_of.values()) // cores))
    parts: list[FileShare] = []
    rows_max = 1
    for run, following in zip(runs, [*runs[1:], None], strict=True):
        chosen = frozenset(run)
        found = [part for each in held if (part := each.within(chosen)).rows]
        bounds = (run[0] if parts else None, following[0] if following else None)
        for group in _groups(found, tasks[run[0]] if len(run) == 1 else 1):
            alone = all(each.total == each.file.rows for each in group)
            of = tuple(each.file for each in group)
            parts.append(FileShare(of) if alone else FileShare(of, *bounds))
            for rows, size in _summed(group).values():
                rows_max = max(rows_max, -(-rows // _files_of(rows, size, target)))
    return Layout(tuple(parts), rows_max)


def _runs(
    rows: Mapping[datetime, int], tasks: Mapping[datetime, int], share: int
) -> list[list[datetime]]:
    """Group the chunks by time: a chunk of several files alone, small neighbours together."""
    runs: list[list[datetime]] = []
    taken = share
    for chunk in sorted(rows):
        if tasks[chunk] > 1 or taken >= share:
            runs.append([])
            taken = 0
        runs[-1].append(chunk)
        taken = share if tasks[chunk] > 1 else taken + rows[chunk]
    return runs


def _summed(held: Iterable[FileChunks]) -> dict[datetime, tuple[int, float]]:
    """Return chunk -> rows and bytes; a file's bytes count in proportion to its rows."""
    totals: dict[datetime, tuple[int, float]] = {}
    for each in held:
        row_bytes = each.file.size_bytes / each.file.rows
        for chunk, number in each.rows.items():
            rows, size = totals.get(chunk, (0, 0.0))
            totals[chunk] = (rows + number, size + number * row_bytes)
    return totals


def _groups(held: Sequence[FileChunks], number: int) -> list[list[FileChunks]]:
    """Group files, in order, into groups of about equal rows."""
    number = min(number, len(held))
    share = sum(each.total for each in held) / number
    groups: list[list[FileChunks]] = [[]]
    rows = 0
    for each in held:
        if groups[-1] and rows >= share * len(groups):
            groups.append([])
        groups[-1].append(each)
        rows += each.total
    return groups


def _at_once(rows: int, cores: int) -> int:
    return max(1, min(cores, rows // _PARALLEL_ROWS))


def _pieces(file: DataFile, target: FileTarget) -> int:
    return _files_of(file.rows, file.size_bytes, target)


def _files_of(rows: int, size_bytes: float, target: FileTarget) -> int:
    """Return the number of files that a task writes for its part of a chunk.

    Groups of files differ a little from the target, so a small rest is no file of its own.
    """
    return max(1, -(-rows // target.rows), round(size_bytes / target.size_bytes))


def _held(file: DataFile, chunks: Chunks, warehouse: Path) -> FileChunks:
    start, end = chunks.of(file.time_min)
    if chunks.of(file.time_max) == (start, end):
        return FileChunks(file, {start: file.rows})
    table = pq.read_table(warehouse / file.path, columns=["__time"], partitioning=None)
    since_epoch = table["__time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    times = since_epoch.combine_chunks().sort()
    # Sorted, as a plain list of numbers, so a few comparisons find each chunk.
    view = memoryview(times.buffers()[1]).cast("q")[: len(times)]
    rows: dict[datetime, int] = {}
    done = 0
    while done < len(times):
        start, end = chunks.of(_EPOCH + timedelta(microseconds=view[done]))
        following = len(times) if end == TIME_MAX else bisect_left(view, micros(end), done)
        rows[start] = following - done
        done = following
    return FileChunks(file, rows)
