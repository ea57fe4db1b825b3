"""The journal: a task's durable list of finished micro-batches; only what it names exists.

    <data dir>/journal/<task id>.jsonl

One line per record, each `<first 16 hex of the SHA-256 of the rest> <JSON>`: first a header, then
batches, and the fixed end once it is known.  Every append is an fsync, so a crash can tear only the
last line.  A torn line was never acted upon and is cut off.  A crash does not explain damage before
the last line: that is `JournalDamaged`, and the task counts as lost (P20).
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tasks.contract.messages import DesiredTask
from tasks.contract.offsets import Offsets
from tasks.contract.wire import Wire, WireOffsets
from tasks.durable_files import (
    DiskFolder,
    Folder,
    make_private,
    naming_file,
    replace_in,
    write_all,
)
from tasks.machine.state import JournalContents
from tasks.ports import JournalEntry

_DIGEST_LENGTH = 16
_SUFFIX = ".jsonl"


class JournalDamaged(Exception):
    """The journal is unreliable; its content is lost to this task."""


class Header(Wire):
    """The owner of a journal; on opening, the header must agree with the overlord's order."""

    kind: Literal["task"] = "task"
    task_id: str
    generation_id: str
    start: WireOffsets
    incarnation: int
    """The incarnation that created the file."""


class _BatchLine(Wire):
    kind: Literal["batch"] = "batch"
    entry: JournalEntry


class _End(Wire):
    kind: Literal["end"] = "end"
    end: WireOffsets


class _Line(Wire):
    record: Header | _BatchLine | _End


class Journal:
    """The journal of one task; one thread uses it at a time."""

    def __init__(
        self, folder: Folder, name: str, size_bytes: int, header: Header, held: JournalContents
    ) -> None:
        """Use `create` or `open` of `JournalFolder`."""
        self._folder = folder
        self._name = name
        self._size = size_bytes
        self._header = header
        self._entries = list(held.entries)
        self._end = held.end
        self._end_due: Offsets | None = None
        """An end that could not be written for lack of space."""

    @property
    def held(self) -> JournalContents:
        """The durable content."""
        return JournalContents(tuple(self._entries), self._end)

    def append(self, entry: JournalEntry) -> None:
        """Append one batch; it is durable when this method returns.

        Raises:
            NoSpace: the batch is not durable, and a retry may succeed.
            OSError: the batch is not durable; the file may end in a torn line.
        """
        if self._end_due is not None:
            self.record_end(self._end_due)
        self._write(_BatchLine(entry=entry))
        self._entries.append(entry)

    def record_end(self, end: Offsets) -> None:
        """Record the fixed end, durably.  Raises like `append`; a repeat changes nothing.

        An end that could not be written is written before the next batch.
        """
        if self._end != end:
            self._end_due = dict(end)
            self._write(_End(end=dict(end)))
            self._end, self._end_due = dict(end), None

    def drop_tail(self, number: int) -> None:
        """Remove the `number` newest batches, durably: all of them or none (P14)."""
        kept = self._entries[: len(self._entries) - number]
        end = self._end if self._end_due is None else self._end_due
        content = _content(self._header, JournalContents(tuple(kept), end))
        replace_in(self._folder, self._name, content)
        self._entries, self._size = kept, len(content)
        self._end, self._end_due = end, None

    def _write(self, record: _BatchLine | _End) -> None:
        line = _line(record)
        with naming_file(self._folder.path(self._name)), self._folder.open(self._name) as file:
            file.truncate(self._size)  # an earlier try may have left half a line
            try:
                write_all(file, line)
            except OSError:
                with suppress(OSError):
                    file.truncate(self._size)
                raise
        self._size += len(line)


def journals_below(data_dir: Path) -> "JournalFolder":
    """Use `<data dir>/journal`, which its owner alone may read: it has samples of records."""
    folder = data_dir / "journal"
    make_private(folder)
    return JournalFolder(DiskFolder(folder))


class JournalFolder:
    """The journals of one worker, one file each."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def open(self, task: DesiredTask) -> Journal | None:
        """Open the journal of `task`, which nobody else may be writing; None if there is none.

        Raises:
            JournalDamaged: the journal is damaged, or has another generation or start.
        """
        name = f"{task.task_id}{_SUFFIX}"
        content = self._folder.read(name)
        if content is None:
            return None
        whole, header, held = _read(name, content)
        expected = (task.task_id, task.generation_id, task.start)
        if (header.task_id, header.generation_id, header.start) != expected:
            raise JournalDamaged(f"{name} is of {header.generation_id} from {header.start}")
        self._settle(name, whole)
        return Journal(self._folder, name, whole, header, held)

    def create(self, task: DesiredTask, incarnation: int) -> Journal:
        """Create an empty journal for `task`, durably; it replaces a journal of the same name."""
        header = Header(
            task_id=task.task_id,
            generation_id=task.generation_id,
            start=task.start,
            incarnation=incarnation,
        )
        name, empty = f"{task.task_id}{_SUFFIX}", JournalContents((), None)
        content = _content(header, empty)
        replace_in(self._folder, name, content)
        return Journal(self._folder, name, len(content), header, empty)

    def task_ids(self) -> set[str]:
        """Return the tasks that have a journal here."""
        names = self._folder.names()
        return {name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)}

    def delete(self, task_id: str) -> None:
        """Delete a task's journal, if there is one."""
        self._folder.delete(f"{task_id}{_SUFFIX}")
        self._folder.sync()

    def _settle(self, name: str, size_bytes: int) -> None:
        """Cut a torn last line off a journal, and make the rest durable before it is relied upon.

        Who wrote it may have crashed before the sync of the last line, or of the new name.  This
        process can read both, and the next power loss could take them.
        """
        with self._folder.open(name) as file:
            file.truncate(size_bytes)
            file.sync()
        self._folder.sync()


def _content(header: Header, held: JournalContents) -> bytes:
    lines = [_line(header)]
    if held.end is not None:
        lines.append(_line(_End(end=dict(held.end))))
    return b"".join(lines + [_line(_BatchLine(entry=entry)) for entry in held.entries])


def _line(record: Header | _BatchLine | _End) -> bytes:
    text = _Line(record=record).to_json().encode()
    return _digest(text) + b" " + text + b"\n"


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:_DIGEST_LENGTH].encode()


def _read(name: str, content: bytes) -> tuple[int, Header, JournalContents]:
    """Return the size in bytes of the whole lines, the header and what the lines hold."""
    *whole, rest = content.split(b"\n")
    records = [_parsed(line) for line in whole]
    if records and records[-1] is None:  # a torn write can end in a newline: blocks reorder
        rest = whole[-1] + b"\n" + rest
        records.pop()
    if any(record is None for record in records):
        raise JournalDamaged(f"{name} is damaged before its last line")
    if not records or not isinstance(header := records[0], Header):
        raise JournalDamaged(f"{name} has no header")
    entries = tuple(record.entry for record in records if isinstance(record, _BatchLine))
    ends = [record.end for record in records if isinstance(record, _End)]
    _check_tiled(name, header.start, entries)
    held = JournalContents(entries, ends[-1] if ends else None)
    return len(content) - len(rest), header, held


def _parsed(line: bytes) -> Header | _BatchLine | _End | None:
    digest, _, text = line.partition(b" ")
    if digest != _digest(text):
        return None
    try:
        return _Line.from_json(text).record
    except ValidationError:
        return None


def _check_tiled(name: str, start: Offsets, entries: tuple[JournalEntry, ...]) -> None:
    reached = start
    for entry in entries:
        if entry.start != reached:
            raise JournalDamaged(f"{name}: batch {entry.number} does not start at {reached}")
        reached = entry.end
