"""Results that wait, in files: one per life of an executor, a checksummed line per result.

    <folder>/<incarnation>.results      locked by its process for as long as it lives

A line is its checksum in eight hexadecimal digits, a space, and JSON.  One that is torn or damaged
is passed over, and its neighbours are read.  Files of lives that have ended are read by the next
one, and deleted once their results are taken.
"""

import fcntl
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from pydantic import TypeAdapter

from supervisor.core.executions.records import NewerRecord, RecordForm, UnreadableRecord
from supervisor.ports.flows.results import ResultsFull, WaitingResult

__all__ = ["RESULTS_BYTES_MAX", "ResultFiles"]

log = structlog.get_logger()

RESULTS_BYTES_MAX = 64 * 1024 * 1024
"""Of all files together: some thousand results of the largest kind."""
_FORM = RecordForm(TypeAdapter(WaitingResult))
_ENDING, _NEW = ".results", ".new"
_SUM = 8


@dataclass
class _File:
    """An open file, locked; `lines`: what it has that is still to be reported, by result."""

    path: Path
    number: int
    """Its file descriptor."""
    size: int
    lines: dict[tuple[str, str, int], bytes] = field(default_factory=dict)

    def close(self) -> None:
        os.close(self.number)


class ResultFiles:
    """Implements `ports.flows.results.ResultStore`."""

    def __init__(self, folder: Path, incarnation: str, bytes_max: int = RESULTS_BYTES_MAX) -> None:
        """Open nothing yet; the folder is for one name."""
        self._folder = folder
        self._own = folder / f"{incarnation}{_ENDING}"
        self._bytes_max = bytes_max
        self._files: list[_File] = []

    def open(self) -> Sequence[WaitingResult]:
        """Return what lives that have ended have left; see the port."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            paths = sorted(self._folder.glob(f"*{_ENDING}"))
            left = [result for path in paths for result in self._take(path)]
            for path in self._folder.glob(f"*{_NEW}"):
                path.unlink(missing_ok=True)  # its process died before it had a name
        except OSError as error:
            raise ResultsFull(f"{self._folder}: {error.strerror}") from None
        return left

    def put(self, results: Sequence[WaitingResult]) -> None:
        """Keep results; see the port."""
        lines = {_key(each): _line(each) for each in results}
        size = sum(map(len, lines.values()))
        try:
            own = self._own_file()
            if self._size() + size > self._bytes_max:
                self._write_anew(own)
            if self._size() + size > self._bytes_max:
                raise ResultsFull(f"{self._folder} has more than {self._bytes_max:,} bytes")
            try:
                _write(own.number, b"".join(lines.values()), own.size)
            except OSError:
                os.ftruncate(own.number, own.size)
                raise
        except OSError as error:
            raise ResultsFull(f"{self._folder}: {error.strerror}") from None
        own.size += size
        own.lines.update(lines)

    def forget(self, results: Sequence[WaitingResult]) -> None:
        """Keep these no longer; see the port."""
        gone = {_key(each) for each in results}
        for file in list(self._files):
            had = len(file.lines)
            file.lines = {key: line for key, line in file.lines.items() if key not in gone}
            if len(file.lines) == had:
                continue
            try:
                self._shrink(file)
            except OSError as error:  # they are reported once more after a crash, and dropped
                log.warning("results stay in their file", path=str(file.path), why=str(error))

    def close(self) -> None:
        """Close the files; an empty one is deleted."""
        for file in self._files:
            if not file.lines:
                file.path.unlink(missing_ok=True)
            file.close()
        self._files = []

    def _take(self, path: Path) -> Iterator[WaitingResult]:
        """Yield what a file has, if its process has ended."""
        number = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(number)
            return  # it lives, and reports them itself
        content = path.read_bytes()
        file = _File(path, number, len(content))
        damaged = 0
        for line in content.splitlines(keepends=True):
            result = _read(line)
            if result is None:
                damaged += 1
                continue
            file.lines[_key(result)] = line
            yield result
        if damaged:
            log.warning("results that cannot be read", path=str(path), lines=damaged)
        if file.lines:
            self._files.append(file)
        else:
            path.unlink()
            file.close()

    def _own_file(self) -> _File:
        for file in self._files:
            if file.path == self._own:
                return file
        own = _File(self._own, self._new_file(self._own), 0)
        self._sync_folder()
        self._files.append(own)
        return own

    def _new_file(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
        number = os.open(path, flags, 0o600)
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return number

    def _shrink(self, file: _File) -> None:
        """Give room back: all of it at the end, half of it on the way."""
        if not file.lines and file.path != self._own:
            self._files.remove(file)
            file.path.unlink()
            file.close()
        elif not file.lines:
            os.ftruncate(file.number, 0)
            os.fsync(file.number)
            file.size = 0
        elif sum(map(len, file.lines.values())) < file.size / 2:
            self._write_anew(file)

    def _write_anew(self, file: _File) -> None:
        """Write what is still to be reported, in a new file of the same name."""
        body = b"".join(file.lines.values())
        if len(body) == file.size:
            return
        new = file.path.with_suffix(_NEW)
        number = self._new_file(new)
        try:
            _write(number, body, 0)
            new.replace(file.path)
        except OSError:
            os.close(number)
            raise
        file.close()
        file.number, file.size = number, len(body)
        self._sync_folder()

    def _sync_folder(self) -> None:
        number = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)

    def _size(self) -> int:
        return sum(file.size for file in self._files)


def _key(result: WaitingResult) -> tuple[str, str, int]:
    return result.execution, result.given.run, result.given.attempt


def _line(result: WaitingResult) -> bytes:
    body = _FORM.write(result)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _read(line: bytes) -> WaitingResult | None:
    """Return a result; None: the line is torn or damaged, or of a newer release."""
    head, body = line[:_SUM], line[_SUM + 1 :].removesuffix(b"\n")
    if not line.endswith(b"\n") or head != b"%08x" % zlib.crc32(body):
        return None
    try:
        return _FORM.read(body)
    except (UnreadableRecord, NewerRecord):
        return None


def _write(number: int, body: bytes, at: int) -> None:
    """Write all of it at a place, and on the disk."""
    view = memoryview(body)
    while view:
        written = os.pwrite(number, view, at)
        view, at = view[written:], at + written
    os.fsync(number)
