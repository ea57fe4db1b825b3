"""The spool: records that wait on disk until the store has them; they outlive the process.

    append ─► 000007.spool  one checksummed line per record       sealed at a mebibyte
    next   ─► records from the position in `sent` on, file by file
    sent   ─► the position moves; files that lie before it are deleted

A line is written without fsync: a crash of the process loses nothing, and one of the machine loses
what the system had not written yet.  A line that broke off or was damaged is left out and counted.
At the bound the oldest file goes, sent or not, and its records are counted as lost.  The position
may be old after a crash: then records are sent again, which the store takes as repeats.
"""

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tasks.durable_files import make_private

__all__ = ["Position", "Spool", "SpoolBatch", "SpoolBounds"]

_SUFFIX = ".spool"
_DIGITS = 8
_CRC = 8
"""Hex digits before each line, and a blank behind them."""


@dataclass(frozen=True)
class SpoolBounds:
    """Limits of the files; sizes in bytes."""

    file_bytes: int = 1024 * 1024
    """A file that is this large is sealed, and the next one begun."""
    total_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, order=True)
class Position:
    """A place in the spool: before it everything is sent."""

    file: int = 0
    offset: int = 0


@dataclass(frozen=True)
class SpoolBatch:
    """Records in the order in which they were appended."""

    records: tuple[bytes, ...]
    end: Position
    """Where the next batch begins."""
    damaged: int = 0
    """Lines between them that could not be read."""


class Spool:
    """One folder of spool files, of one process at a time; thread-safe."""

    def __init__(self, folder: Path, bounds: SpoolBounds | None = None) -> None:
        """Open a folder, and go on where the process before has ended.

        One that cannot be made, or is read-only, costs each record that is appended.
        """
        self._folder = folder
        self._bounds = bounds or SpoolBounds()
        self._lock = Lock()
        with suppress(OSError):
            make_private(folder)
        files = self._files()
        self._sent = max(self._stored_position(), Position(min(files, default=0), 0))
        # A file that may have broken off is not written to again.
        self._last = max([*files, self._sent.file]) + 1
        self.waiting_bytes = self._unsent_bytes()
        """How much waits, with its checksums; read without waiting for a disk that hangs."""
        self.lost_total = 0
        """Records that were deleted unsent for lack of room."""
        self.damaged_total = 0
        """Lines that could not be read."""
        self.refused_total = 0
        """Records that could not be written."""

    def append(self, records: Iterable[bytes]) -> int:
        """Write records without line ends, in their order; return how many were written.

        A disk that is full or read-only costs the records and nothing else: they are counted.
        """
        wanted = [each for each in records if each]
        lines = [_line_of(each) for each in wanted]
        with self._lock:
            try:
                written = self._write(lines)
            except OSError:
                written = 0
            self.refused_total += len(wanted) - written
            with suppress(OSError):
                self._make_room()
            self.waiting_bytes = self._unsent_bytes()
        return written

    def next(self, bytes_max: int) -> SpoolBatch:
        """Return what comes next, at least one record if there is any, up to about `bytes_max`.

        Raises:
            OSError: a file cannot be read.
        """
        with self._lock:
            records: list[bytes] = []
            at, size, damaged = self._sent, 0, 0
            while True:
                for record, end in self._read(at):
                    at = Position(at.file, end)
                    if record is None:
                        damaged += 1
                        continue
                    records.append(record)
                    size += len(record)
                    if size >= bytes_max:
                        return SpoolBatch(tuple(records), at, damaged)
                later = [number for number in self._files() if number > at.file]
                if not later:
                    return SpoolBatch(tuple(records), at, damaged)
                at = Position(min(later), 0)

    def sent(self, batch: SpoolBatch) -> None:
        """Forget a batch and what lies before it; a disk that refuses that costs repeats alone."""
        upto = batch.end
        with self._lock:
            if upto <= self._sent:
                return
            self._sent = upto
            self.damaged_total += batch.damaged
            with suppress(OSError):
                half = self._folder / "sent.new"
                half.write_text(f"{upto.file} {upto.offset}\n")
                half.replace(self._folder / "sent")
            for number in self._files():
                if number < upto.file:
                    with suppress(OSError):
                        self._path(number).unlink()
            self.waiting_bytes = self._unsent_bytes()

    def _unsent_bytes(self) -> int:
        total = 0
        for number in self._files():
            if number >= self._sent.file:
                with suppress(OSError):
                    total += self._path(number).stat().st_size
        return max(total - self._sent.offset, 0)

    def _write(self, lines: list[bytes]) -> int:
        path = self._path(self._last)
        size = path.stat().st_size if path.exists() else 0
        if size >= self._bounds.file_bytes:
            self._last += 1
            path, size = self._path(self._last), 0
        with path.open("ab", buffering=0) as file:
            for number, line in enumerate(lines):
                try:
                    if file.write(line) == len(line):
                        continue
                except OSError:
                    pass
                with suppress(OSError):
                    os.ftruncate(file.fileno(), size + sum(map(len, lines[:number])))
                return number
        return len(lines)

    def _make_room(self) -> None:
        """Delete oldest files until the rest fits; the one that is written stays."""
        sizes = {number: self._path(number).stat().st_size for number in sorted(self._files())}
        for number, size in [*sizes.items()]:
            if sum(sizes.values()) <= self._bounds.total_bytes or number == self._last:
                return
            del sizes[number]
            if size and number >= self._sent.file:
                start = self._sent if number == self._sent.file else Position(number)
                self.lost_total += sum(record is not None for record, _ in self._read(start))
                self._sent = Position(number + 1)
            self._path(number).unlink()

    def _read(self, at: Position) -> Iterator[tuple[bytes | None, int]]:
        """Yield records of one file from a position on, each with the offset behind it.

        None: a line is damaged.  What has no line end yet is still being written, or broke off.
        """
        try:
            content = self._path(at.file).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return
        start = at.offset
        while (end := content.find(b"\n", start)) >= 0:
            yield _record_of(content[start:end]), end + 1
            start = end + 1

    def _files(self) -> list[int]:
        return sorted(
            int(path.stem)
            for path in self._folder.glob(f"*{_SUFFIX}")
            if path.stem.isascii() and path.stem.isdigit()
        )

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:0{_DIGITS}d}{_SUFFIX}"

    def _stored_position(self) -> Position:
        with suppress(OSError, ValueError):
            file, offset = (self._folder / "sent").read_text().split()
            return Position(int(file), int(offset))
        return Position()


def _line_of(record: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(record), record)


def _record_of(line: bytes) -> bytes | None:
    record = line[_CRC + 1 :]
    return record if line[: _CRC + 1] == b"%08x " % zlib.crc32(record) else None
