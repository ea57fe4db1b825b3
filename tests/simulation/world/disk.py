"""Files that are written, and only then synced: what a machine loses when its power goes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tasks.contract.messages import DesiredTask
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.durable_files import NoSpace
from tasks.machine.state import JournalContents
from tasks.ports import JournalEntry
from tasks.worker.journal import JournalDamaged

Row = tuple[TopicPartition, int, int | None]
"""Partition, offset and id of the record that a row was made of."""


@dataclass
class DataFile:
    """A file of the warehouse on the disk of one machine."""

    rows: tuple[Row, ...]
    machine: str
    synced: bool = False


def size_of(rows: Sequence[Row]) -> int:
    """Return the size that a file with these rows is said to have."""
    return len(rows) + 1


class Warehouse:
    """The folder that all workers write into."""

    def __init__(self) -> None:
        self.files: dict[str, DataFile] = {}

    def write(self, path: str, rows: tuple[Row, ...], machine: str) -> None:
        """Write a file; it is not durable yet."""
        self.files[path] = DataFile(rows, machine)

    def sync(self, paths: list[str]) -> None:
        """Make files durable, with the folders above them."""
        for path in paths:
            if path in self.files:
                self.files[path].synced = True

    def delete(self, path: str) -> None:
        """Delete a file; done already is fine."""
        self.files.pop(path, None)

    def rows(self, path: str) -> list[Row] | None:
        """Return the rows of a file; None if it is not there."""
        found = self.files.get(path)
        return None if found is None else list(found.rows)

    def size_of(self, path: str) -> int | None:
        """Return the size of a file; None if it is not there."""
        found = self.files.get(path)
        return None if found is None else size_of(found.rows)

    def power_lost(self, machine: str) -> None:
        """Forget what that machine had not synced."""
        kept = self.files.items()
        self.files = {p: f for p, f in kept if f.synced or f.machine != machine}


@dataclass
class JournalFile:
    """The lines of one journal; those from `durable` on are lost with the power."""

    generation_id: str
    start: Offsets
    entries: list[JournalEntry] = field(default_factory=list)
    end: Offsets | None = None
    durable: int = 0


class Disk:
    """The data folder of one worker: its incarnation and its journals."""

    def __init__(self, reached: Callable[[str], None]) -> None:
        self.reached = reached
        self.full = False
        self.incarnation = 0
        self.journals: dict[str, JournalFile] = {}

    def next_incarnation(self, drawn: int) -> int:
        """Draw a number higher than any before; durable."""
        self.incarnation = max(self.incarnation + 1, drawn)
        return self.incarnation

    def power_lost(self) -> None:
        """Forget the lines that were not synced."""
        for journal in self.journals.values():
            del journal.entries[journal.durable :]

    def wiped(self) -> None:
        """Lose the whole folder."""
        self.journals.clear()
        self.incarnation = 0


class SimJournal:
    """The journal of one task, as `tasks.worker.journal.Journal`."""

    def __init__(self, file: JournalFile, disk: Disk) -> None:
        self.file = file
        self._disk = disk

    @property
    def held(self) -> JournalContents:
        """What it holds."""
        return JournalContents(tuple(self.file.entries), self.file.end)

    def append(self, entry: JournalEntry) -> None:
        """Add a line; it is durable when this returns.

        Raises:
            NoSpace: the disk is full; the journal is as it was.
        """
        if self._disk.full:
            raise NoSpace("the journal: no space")
        self.file.entries.append(entry)
        self._disk.reached("worker:unsynced:Append")
        self._sync()

    def _sync(self) -> None:
        self.file.durable = len(self.file.entries)

    def record_end(self, end: Offsets) -> None:
        """Remember the end, durably."""
        self.file.end = dict(end)

    def drop_tail(self, number: int) -> None:
        """Take the newest entries off, durably.

        Raises:
            NoSpace: the disk is full; the journal is as it was.
        """
        if self._disk.full:
            raise NoSpace("the journal: no space")
        del self.file.entries[len(self.file.entries) - number :]
        self._sync()


class SimJournals:
    """The journals of one worker, as `tasks.worker.journal.JournalFolder`."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def open(self, task: DesiredTask) -> SimJournal | None:
        """Open the journal of `task`; None if there is none.

        Raises:
            JournalDamaged: it is of another generation or start.
        """
        file = self._disk.journals.get(task.task_id)
        if file is None:
            return None
        if (file.generation_id, file.start) != (task.generation_id, task.start):
            raise JournalDamaged(f"the journal of {task.task_id} is of {file.generation_id}")
        return SimJournal(file, self._disk)

    def create(self, task: DesiredTask, incarnation: int) -> SimJournal:
        """Make an empty journal, durably.

        Raises:
            NoSpace: the disk is full; there is none.
        """
        del incarnation
        if self._disk.full:
            raise NoSpace("the journal: no space")
        file = JournalFile(task.generation_id, task.start)
        self._disk.journals[task.task_id] = file
        return SimJournal(file, self._disk)

    def task_ids(self) -> set[str]:
        """Return the tasks that have a journal."""
        return set(self._disk.journals)

    def delete(self, task_id: str) -> None:
        """Remove a journal; done already is fine."""
        self._disk.journals.pop(task_id, None)
