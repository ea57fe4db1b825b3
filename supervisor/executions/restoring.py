"""A restore of the topics of executions: their state is written anew from the tables.

    look ─► write, partition by partition ─► who keeps the topics learns their new ids

Each partition is written under the transactional id of its owners, and its last transaction has the
position.  A partition without one, or with one of a restore, was left by a restore that ended
early: it is written once more.  An executor starts only when the new topics are kept, at the end.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.records import StateRecord, UnreadableRecord, restore
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    POSITION_FORM,
    ExecutionStart,
    PartitionPosition,
)
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import (
    FILLER_KEY,
    POSITION_KEY,
    LogEntry,
    LogTopic,
)
from supervisor.ports.flows.restoring import HistoryStart, RestorableLog, RestorableTables

__all__ = ["RESTORER", "Restorable", "RestoreRefused", "TopicsRestore"]

RESTORER = "restore-topics"
"""Writer of a position that no executor has written."""
_AT_ONCE = 100
"""Executions that are read together."""
_RECORDS_MAX = 1_000
_BYTES_MAX = 4 * 1024 * 1024
"""Of a transaction, about."""


class RestoreRefused(Exception):
    """A restore would overwrite what can be used, or has nothing to write; nothing is changed."""


@dataclass(frozen=True)
class Restorable:
    """What the tables can give the topics, and what the topics have."""

    executions: int = 0
    live: int = 0
    """Those among them that have not ended."""
    gates: int = 0
    begin: int = 0
    """Executions that nobody has begun to work: their start is sent again."""
    in_use: Sequence[int] = ()
    """Partitions whose state an owner has written."""
    lacks: Sequence[str] = ()
    """What cannot be restored, in words."""


@dataclass(frozen=True)
class _ReadExecution:
    """An execution of the tables: its records, or why there are none."""

    name: str
    records: Sequence[StateRecord] = ()
    execution: Execution | None = None
    why: str = ""

    @property
    def begins(self) -> bool:
        """Whether no owner has worked its start in."""
        return self.execution is not None and self.execution.version == 0

    @property
    def lives(self) -> bool:
        """Whether it has not ended."""
        return self.execution is not None and not self.execution.state.ended


@dataclass(frozen=True)
class TopicsRestore:
    """Reads the tables, and writes the state of partitions.

    Each use raises `StoreAway`, `StoreRefuses`, `LogAway`, `LogRefuses`, `LogFenced`, `LogAborted`
    or `LogTooLarge`; what was begun may be repeated.
    """

    tables: RestorableTables
    new_log: Callable[[int], RestorableLog]
    starts: Mapping[int, HistoryStart]
    """Partition -> where it goes on; one for each."""
    now: Callable[[], datetime]

    def look(self, *, has_state: bool = True) -> Restorable:
        """Return what a restore would write; `has_state`: whether the topic of states is there.

        Raises:
            NewerRecord: a newer release has written the tables.
        """
        numbers = {"executions": 0, "live": 0, "begin": 0}
        lacks: list[str] = []
        for one in self._read(self.tables.executions()):
            if one.why:
                lacks.append(f"execution {one.name}: its rows cannot be read: {one.why}")
            elif one.begins:
                numbers["begin"] += int(one.lives)
            else:
                numbers["executions"] += 1
                numbers["live"] += int(one.lives)
        gates, unreadable = self._gates()
        lacks += unreadable
        lacks += [
            f"execution {name}: its large output {artifact} has no row"
            for name, artifact in self.tables.lost_artifacts()
        ]
        lacks += [
            f"partition {number}: inputs before offset {start.next} of its history that were not "
            f"worked in, among {start.passed_over}"
            for number, start in self.starts.items()
            if start.passed_over
        ]
        in_use = [number for number in self.starts if has_state and self._is_used(number)]
        return Restorable(**numbers, gates=len(gates), in_use=in_use, lacks=lacks)

    def write(self, *, force: bool = False) -> None:
        """Write every partition; `force`: also one whose state an owner has written.

        There an execution becomes what the tables have of it, also where that is older.  One that
        the tables do not have stays, a gate ends, and the position stays.

        Raises:
            RestoreRefused: an owner has written one of them.
            NewerRecord: a newer release has written the tables.
        """
        names: dict[int, list[str]] = {number: [] for number in self.starts}
        for name in self.tables.executions():
            names[self._place(name)].append(name)
        gates, _ = self._gates()
        for number, some in names.items():
            own = [one for one in gates if self._place(one.key.removeprefix("g/")) == number]
            with closing(self.new_log(number)) as log:
                there = log.take_over()
                if not force and _is_of_an_owner(there):
                    raise RestoreRefused(f"the state of partition {number} has records")
                writer = _PartitionWriter(log, number, {one.key for one in there})
                for each in self._read(some):
                    writer.put_execution(each)
                writer.put(own)
                writer.end(self._position(number, there))

    def repair(self, name: str, *, force: bool = False) -> None:
        """Write one execution anew, in the partition of whoever owns it; the position stays.

        The owner, who is fenced, takes the partition over once more.  `force`: also one that can
        be read there.

        Raises:
            RestoreRefused: the tables cannot give it, or the topics have it.
            NewerRecord: a newer release has written the tables.
        """
        number, key = self._place(name), f"e/{name}"
        for each in self._read([name]):
            if each.why or each.begins:
                why = each.why or "no step of it has begun"
                raise RestoreRefused(f"the tables cannot give the execution {name}: {why}")
            with closing(self.new_log(number)) as log:
                there = log.take_over()
                mine = [one for one in there if one.key == key or one.key.startswith(f"{key}/")]
                if not force and name in restore(mine).executions:
                    raise RestoreRefused(f"the topics have the execution {name}, and can read it")
                writer = _PartitionWriter(log, number, {one.key for one in mine})
                writer.put_execution(each)
                writer.add(LogEntry(LogTopic.HISTORY, number, FILLER_KEY, None))  # wakes the owner
                writer.end(self._position(number, there))
            return
        raise RestoreRefused(f"the tables have no execution {name}")

    def _is_used(self, number: int) -> bool:
        with closing(self.new_log(number)) as log:
            return _is_of_an_owner(log.look())

    def _position(self, number: int, there: Sequence[StateRecord]) -> PartitionPosition:
        """Return the position that is written last: the one that is there, if one is."""
        before = _position_in(there)
        if before is not None and before.next is not None:
            return replace(before, writer=RESTORER)
        return PartitionPosition(self.starts[number].next, self.now(), RESTORER)

    def _gates(self) -> tuple[Sequence[StateRecord], Sequence[str]]:
        """Return the records of gates, and why some are left out."""
        records = self.tables.gates()
        unreadable = restore(records).unreadable
        return (
            [one for one in records if one.key not in unreadable],
            [f"gate {key.removeprefix('g/')}: {why}" for key, why in unreadable.items()],
        )

    def _read(self, names: Sequence[str]) -> Iterator[_ReadExecution]:
        for start in range(0, len(names), _AT_ONCE):
            for name, records in self.tables.records(names[start : start + _AT_ONCE]).items():
                restored = restore(records)
                yield _ReadExecution(
                    name,
                    records,
                    restored.executions.get(name),
                    restored.unreadable.get(f"e/{name}", ""),
                )

    def _place(self, entity: str) -> int:
        return partition_of(entity, len(self.starts))


class _PartitionWriter:
    """Writes records in transactions of bounded size, and ends what nothing was written for."""

    def __init__(self, log: RestorableLog, number: int, there: Collection[str]) -> None:
        """`there`: keys that the state has; each is written again, or ends."""
        self._log = log
        self._number = number
        self._there = set(there) - {POSITION_KEY}
        self._written: set[str] = set()
        """Executions with new records: what is left of their old ones ends."""
        self._entries: list[LogEntry] = []
        self._bytes = 0

    def put_execution(self, each: _ReadExecution) -> None:
        """Write the records of an execution; of one that nobody has begun, its start."""
        if each.begins and each.lives and each.execution is not None:
            start = LETTER_FORM.write(ExecutionStart(each.execution))
            self.add(LogEntry(LogTopic.HISTORY, self._number, each.name.encode(), start))
        elif not each.why and not each.begins:
            self._written.add(each.name)
            self.put(each.records)

    def put(self, records: Iterable[StateRecord]) -> None:
        """Write records of the state."""
        for one in records:
            self._there.discard(one.key)
            self.add(LogEntry(LogTopic.STATE, self._number, one.key.encode(), one.value))
        if len(self._entries) >= _RECORDS_MAX or self._bytes >= _BYTES_MAX:
            self._log.write(self._entries)
            self._entries, self._bytes = [], 0

    def add(self, entry: LogEntry) -> None:
        """Write any record, with those that follow."""
        self._entries.append(entry)
        self._bytes += len(entry.value or b"")

    def end(self, position: PartitionPosition) -> None:
        """End what is left, and write the position."""
        self.put(StateRecord(key, None) for key in sorted(self._there) if self._is_over(key))
        self.put([StateRecord(POSITION_KEY, POSITION_FORM.write(position))])
        if self._entries:
            self._log.write(self._entries)

    def _is_over(self, key: str) -> bool:
        kind, _, rest = key.partition("/")
        return kind == "g" or rest.partition("/")[0] in self._written


def _position_in(records: Iterable[StateRecord]) -> PartitionPosition | None:
    """Return the position of a partition; None: there is none, or none that can be read."""
    for one in records:
        if one.key == POSITION_KEY and one.value is not None:
            try:
                return POSITION_FORM.read(one.value)
            except UnreadableRecord:
                return PartitionPosition()
    return None


def _is_of_an_owner(records: Sequence[StateRecord]) -> bool:
    """Whether an owner has written a state, and not a restore that ended early."""
    position = _position_in(records)
    return position is not None and position.writer != RESTORER
