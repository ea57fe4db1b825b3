"""A log with partitions and transactions, as a broker has it.

open ─► committed      readers see what is committed, up to the first record that is open
   └──► aborted        a new producer of a transactional id aborts what the old one left open
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

Place = tuple[str, int]
"""Topic and partition."""


class Fenced(Exception):
    """A newer producer has the transactional id."""


@dataclass(frozen=True)
class Record:
    """One record; `writer` is a transactional id and its epoch, or empty."""

    place: Place
    offset: int
    key: str
    value: object
    writer: tuple[str, int] = ("", 0)


class Slot(Enum):
    """What became of a record.  GONE: compacted away."""

    OPEN = 1
    COMMITTED = 2
    ABORTED = 3
    GONE = 4


Watch = Callable[[list[Record]], None]
"""Is given each batch of records as it becomes visible."""


@dataclass
class Log:
    """All topics."""

    watch: Watch
    _records: dict[Place, list[Record]] = field(default_factory=lambda: defaultdict(list))
    _slots: dict[Place, list[Slot]] = field(default_factory=lambda: defaultdict(list))
    _epochs: dict[str, int] = field(default_factory=dict)
    _open: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))

    def append(self, place: Place, key: str, value: object) -> None:
        """Add a record outside of any transaction."""
        record = self._add(place, key, value, ("", 0), Slot.COMMITTED)
        self.watch([record])

    def producer(self, name: str) -> "Producer":
        """Take a transactional id over: what was open under it is aborted."""
        self._finish(name, Slot.ABORTED)
        self._epochs[name] = self._epochs.get(name, 0) + 1
        return Producer(self, name, self._epochs[name])

    def end(self, place: Place) -> int:
        """Return the offset behind the last record."""
        return len(self._records[place])

    def read(self, place: Place, start: int, most: int = 1_000_000) -> tuple[list[Record], int]:
        """Return committed records from an offset on, and the offset behind them."""
        records, slots = self._records[place], self._slots[place]
        read: list[Record] = []
        offset = start
        while offset < len(records) and len(read) < most and slots[offset] is not Slot.OPEN:
            if slots[offset] is Slot.COMMITTED:
                read.append(records[offset])
            offset += 1
        return read, offset

    def compact(self, place: Place) -> None:
        """Drop each committed record that a later one of its key covers."""
        newest: set[str] = set()
        slots = self._slots[place]
        for record in reversed(self._records[place]):
            if slots[record.offset] is Slot.COMMITTED:
                if record.key in newest:
                    slots[record.offset] = Slot.GONE
                newest.add(record.key)

    def write(self, name: str, epoch: int, place: Place, entry: tuple[str, object]) -> None:
        """Add a record to a producer's open transaction.

        Raises:
            Fenced: the producer is an old one.
        """
        self._check(name, epoch)
        record = self._add(place, *entry, (name, epoch), Slot.OPEN)
        self._open[name].append(record)

    def finish(self, name: str, epoch: int, slot: Slot) -> None:
        """Commit or abort a producer's open transaction.

        Raises:
            Fenced: the producer is an old one.
        """
        self._check(name, epoch)
        self._finish(name, slot)

    def _check(self, name: str, epoch: int) -> None:
        if self._epochs.get(name) != epoch:
            raise Fenced(name)

    def _finish(self, name: str, slot: Slot) -> None:
        records = self._open.pop(name, [])
        for record in records:
            self._slots[record.place][record.offset] = slot
        if slot is Slot.COMMITTED and records:
            self.watch(records)

    def _add(
        self, place: Place, key: str, value: object, writer: tuple[str, int], slot: Slot
    ) -> Record:
        record = Record(place, len(self._records[place]), key, value, writer)
        self._records[place].append(record)
        self._slots[place].append(slot)
        return record


@dataclass(frozen=True)
class Producer:
    """A producer with a transactional id, until a newer one takes the id over."""

    log: Log
    name: str
    epoch: int

    def write(self, place: Place, key: str, value: object) -> None:
        """Add a record to the open transaction.

        Raises:
            Fenced: the producer is an old one.
        """
        self.log.write(self.name, self.epoch, place, (key, value))

    def commit(self) -> None:
        """Make the open transaction's records visible.

        Raises:
            Fenced: the producer is an old one.
        """
        self.log.finish(self.name, self.epoch, Slot.COMMITTED)

    def abort(self) -> None:
        """Let the open transaction's records never have been.

        Raises:
            Fenced: the producer is an old one.
        """
        self.log.finish(self.name, self.epoch, Slot.ABORTED)
