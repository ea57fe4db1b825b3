"""Reports in files, for those without a database: JSON lines, in one file a day.

    <folder>/lock                one writer at a time, over all processes
    <folder>/2026-11-28.jsonl    the day of the newest record of each batch
        {"v":1,"type":"task_result",...}
        {"v":1,"type":"task_report",...}
        {"commit":2,"crc":2774653181}     of the two lines above; one fsync makes them last

A batch counts when its last line is whole, so a crash in its midst leaves nothing: the next writer
cuts the rest off.  Each process has an index of each file in memory; it reads on where another
process has written, and reads a file anew that another process has replaced.
"""

import fcntl
import io
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from supervisor.adapters.reports.entries import (
    ReportHead,
    digest_of,
    entries_of,
    has_number,
    head_of,
    is_forgettable,
    is_of,
    line_of,
    matches,
    outcomes_of,
    page_of_heads,
)
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.reports import (
    NumberedQuery,
    ReportLine,
    ReportPage,
    ReportPlace,
    ReportQuery,
)
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from tasks.reporting.record import RecordType, ReportRecord

__all__ = ["FileReports"]

_COMMIT = b'{"commit":'


class _Placed(NamedTuple):
    head: ReportHead
    offset: int
    size: int


@dataclass
class _Day:
    """The index of a file."""

    file: Path
    opened: io.FileIO
    """Held open, so that no other file gets its inode while its index is in memory."""
    end: int = 0
    """The committed bytes; what follows is of a batch that a crash cut short."""
    lines: dict[str, _Placed] = field(default_factory=dict)

    def bodies(self, lines: Iterable[_Placed]) -> Sequence[bytes]:
        """Return the JSON of records, as it was written."""
        return [os.pread(self.opened.fileno(), line.size, line.offset) for line in lines]


class FileReports:
    """A `ReportStore` in a folder; its index takes about a kilobyte of memory per record."""

    def __init__(self, folder: Path) -> None:
        """Make the folder at the first use, if need be."""
        self._folder = folder
        self._days: dict[str, _Day] = {}
        self._thread = Lock()

    def put_many(self, records: Sequence[ReportRecord]) -> Sequence[StoreOutcome]:
        """Store records, all or none."""
        entries = entries_of(records)
        with self._opened():
            before = {
                entry.record_id: digest_of(known)
                for entry in entries
                if (known := self._body(entry.record_id)) is not None
            }
            outcomes = outcomes_of(entries, before)
            new = [
                entry
                for entry, outcome in zip(entries, outcomes, strict=True)
                if outcome is StoreOutcome.STORED
            ]
            if new:
                newest = max(entry.record.at for entry in new).astimezone(UTC)
                file = self._folder / f"{newest:%Y-%m-%d}.jsonl"
                self._append(file, [entry.body.encode() for entry in new])
                self._refresh()
        return outcomes

    def get(self, record_id: str) -> ReportRecord | None:
        """Return a stored record."""
        with self._opened():
            body = self._body(record_id)
        return None if body is None else ReportRecord.from_json(body)

    def list(self, query: ReportQuery, limit: int) -> Sequence[ReportRecord]:
        """Return the newest records that match."""
        with self._opened():
            heads = self._heads(lambda head: matches(head, query))
            return self._records(sorted(heads, key=_by_place, reverse=True)[:limit])

    def page(
        self, query: ReportQuery, limit: int, tables: Sequence[str] | None = None
    ) -> ReportPage:
        """Return the newest records that match, without their payloads."""
        with self._opened():
            heads = self._heads(lambda head: matches(head, query) and is_of(head, tables))
            return page_of_heads(heads, limit, self._line)

    def numbered(self, query: NumberedQuery, limit: int) -> Sequence[ReportRecord]:
        """Return events or audit entries by their numbers."""
        with self._opened():
            return self._records(self._by_number(query)[:limit])

    def numbers(self, query: NumberedQuery, limit: int) -> Sequence[int]:
        """Return the numbers alone."""
        with self._opened():
            return [head.seq for head in self._by_number(query)[:limit]]

    def number_at(self, query: NumberedQuery, at: datetime) -> int:
        """Return the number of the newest one up to a time."""
        whole = NumberedQuery(query.kind, query.subject)
        with self._opened():
            heads = self._heads(lambda head: has_number(head, whole) and head.at <= at)
        return max(heads, key=_by_place).seq if heads else 0

    def delete_older_than(self, kind: RecordType, cutoff: datetime, limit: int) -> int:
        """Delete old records of a type; a file of nothing else goes as a whole, and first."""
        return self._delete(lambda head: head.type is kind and head.at < cutoff, limit)

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete records of a supervisor."""
        return self._delete(lambda head: is_forgettable(head, supervisor, before), limit)

    def size_bytes(self) -> int:
        """Return the size of the files."""
        with self._opened():
            return sum(day.end for day in self._days.values())

    def ping(self) -> None:
        """Return if the lock of the folder can be written now."""
        with self._opened() as lock:
            os.pwrite(lock, b"\n", 0)

    def close(self) -> None:
        """Forget the index."""
        with self._thread:
            for name in [*self._days]:
                self._forget(name)

    def _by_number(self, query: NumberedQuery) -> Sequence[ReportHead]:
        heads = self._heads(lambda head: has_number(head, query))
        return sorted(heads, key=lambda head: head.seq, reverse=query.newest_first)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Hold the folder for this thread alone, with an index that is up to date."""
        try:
            with self._thread:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = os.open(self._folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    self._refresh()
                    yield lock
                finally:
                    os.close(lock)  # the lock goes with it
        except PermissionError as error:
            fix = f"give this user the right to write {self._folder}"
            raise StoreRefuses(f"the files of reports cannot be used: {error}; {fix}") from error
        except OSError as error:
            raise StoreAway(f"the files of reports cannot be used now: {error}") from error

    def _refresh(self) -> None:
        files = {file.name: file for file in self._folder.glob("*.jsonl")}
        for gone in self._days.keys() - files.keys():
            self._forget(gone)
        for name, file in files.items():
            day = self._days.get(name)
            if day is None or not os.path.samestat(os.fstat(day.opened.fileno()), file.stat()):
                self._forget(name)
                day = self._days[name] = _Day(file, file.open("rb", buffering=0))
            if day.end < file.stat().st_size:
                _read_on(day)

    def _forget(self, name: str) -> None:
        if day := self._days.pop(name, None):
            day.opened.close()

    def _append(self, file: Path, bodies: Sequence[bytes]) -> None:
        day = self._days.get(file.name)
        end = 0 if day is None else day.end
        with _private(file, os.O_RDWR) as opened:
            opened.truncate(end)
            opened.seek(end)
            try:
                _write_all(opened, _batch_of(bodies))
            except OSError:
                with suppress(OSError):  # a batch that may not last must not count
                    opened.truncate(end)
                raise
        if end == 0:
            self._sync_folder()

    def _delete(self, wanted: Callable[[ReportHead], bool], limit: int) -> int:
        with self._opened():
            days = []
            for day in self._days.values():
                heads = [line.head for line in day.lines.values() if wanted(line.head)]
                if heads:
                    days.append((len(heads) < len(day.lines), day.file.name, heads))
            left = limit
            for _, name, heads in sorted(days):
                if left == 0:
                    break
                ids = {head.record_id for head in sorted(heads, key=_by_place)[:left]}
                self._delete_from(self._days[name], ids)
                left -= min(left, len(heads))
            self._refresh()
        return limit - left

    def _delete_from(self, day: _Day, ids: set[str]) -> None:
        kept = [line for record_id, line in day.lines.items() if record_id not in ids]
        if not kept:
            day.file.unlink()
        else:
            new = day.file.with_suffix(".new")
            with _private(new, os.O_RDWR | os.O_TRUNC) as opened:
                _write_all(opened, _batch_of(day.bodies(kept)))
            new.replace(day.file)
        self._sync_folder()

    def _sync_folder(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _heads(self, wanted: Callable[[ReportHead], bool]) -> Sequence[ReportHead]:
        lines = (line for day in self._days.values() for line in day.lines.values())
        return [line.head for line in lines if wanted(line.head)]

    def _records(self, heads: Sequence[ReportHead]) -> Sequence[ReportRecord]:
        bodies = [self._body(head.record_id) for head in heads]
        return [ReportRecord.from_json(body) for body in bodies if body is not None]

    def _line(self, head: ReportHead) -> ReportLine | None:
        body = self._body(head.record_id)
        return None if body is None else line_of(ReportRecord.from_json(body), len(body))

    def _body(self, record_id: str) -> bytes | None:
        for day in self._days.values():
            if line := day.lines.get(record_id):
                return day.bodies([line])[0]
        return None


def _by_place(head: ReportHead) -> ReportPlace:
    return head.place


def _batch_of(bodies: Sequence[bytes]) -> bytes:
    text = b"".join(body + b"\n" for body in bodies)
    return text + _COMMIT + f'{len(bodies)},"crc":{zlib.crc32(text)}}}\n'.encode()


def _read_on(day: _Day) -> None:
    """Index the batches behind those that are indexed already."""
    waiting: list[_Placed] = []
    crc, offset = 0, day.end
    with day.file.open("rb") as opened:
        opened.seek(offset)
        for text in opened:
            if text.startswith(_COMMIT):
                if not _is_commit(text, len(waiting), crc):
                    return
                day.lines |= {line.head.record_id: line for line in waiting}
                day.end = offset + len(text)
                waiting, crc = [], 0
            else:
                try:
                    head = head_of(ReportRecord.from_json(text))
                except ValueError:  # the rest is of a batch that a crash cut short
                    return
                waiting.append(_Placed(head, offset, len(text) - 1))
                crc = zlib.crc32(text, crc)
            offset += len(text)


def _is_commit(text: bytes, count: int, crc: int) -> bool:
    try:
        return bool(json.loads(text) == {"commit": count, "crc": crc}) and text.endswith(b"\n")
    except ValueError:
        return False


def _private(file: Path, flags: int) -> io.FileIO:
    """Open a file for writing, that only its owner may read."""
    return io.FileIO(os.open(file, flags | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")


def _write_all(opened: io.FileIO, text: bytes) -> None:
    """Write all of a text to the disk: one write may stop in its midst, at a full disk say."""
    left = memoryview(text)
    while left:
        left = left[opened.write(left) or 0 :]
    os.fsync(opened.fileno())
