"""What the checkers remember between two looks, and what they ask of a world.

Chain   one partition, one reset epoch: the committed offset went from `first` to `reached`
Ledger  the rows of the last look, every chain, the highest order that each task has seen
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tasks.contract.offsets import TopicPartition
from tasks.machine.state import TaskState
from tests.simulation.checkers.database import NO_ROWS, Part, Rows
from tests.simulation.checkers.machines.memory import MachineMemory
from tests.simulation.checkers.tables.rows import TableLedger


@dataclass
class Chain:
    """How far the committed offset of one partition went, under one reset epoch."""

    epoch: int
    topic_id: str
    first: int
    reached: int


@dataclass
class Seen:
    """What was last seen of one task on one incarnation of a worker."""

    rank: tuple[int, int]
    end: Mapping[TopicPartition, int] | None = None
    paused_since: float | None = None


@dataclass
class Ledger:
    """The memory of the checkers of one world; nobody else writes it."""

    rows: Rows = NO_ROWS
    fingerprint: tuple[int, int] | None = None
    chains: dict[Part, list[Chain]] = field(default_factory=dict)
    sources: dict[tuple[str, Part], Chain] = field(default_factory=dict)
    """Generation and partition -> the chain that it continues."""
    ends: dict[tuple[str, Part], int] = field(default_factory=dict)
    tasks: dict[tuple[str, int, str], Seen] = field(default_factory=dict)
    terms: dict[int, str] = field(default_factory=dict)
    """Term -> who committed under it."""
    loses_from: dict[str, float] = field(default_factory=dict)
    """Overlord -> when it may take a worker for lost, since it leads without a lapse."""
    heard: int = 0
    """Happenings that were looked at."""
    tombstones: dict[str, float] = field(default_factory=dict)
    """Supervisor -> when its newest spec was last seen to be its end."""
    resets_itself: int = 0
    """Resets so far that no user asked for."""
    machines: MachineMemory = field(default_factory=MachineMemory)
    tables: TableLedger = field(default_factory=TableLedger)


def chain_of(ledger: Ledger, now: Rows, generation: str, part: Part) -> Chain | None:
    """Return the chain that a part of a generation belongs to, as it was when first seen.

    A partition that vanished with its topic and came again begins with epoch 0 once more.
    """
    key = (generation, part)
    if key not in ledger.sources:
        epoch = now.ranges[generation][part].epoch
        chains = [c for c in ledger.chains.get(part, ()) if c.epoch == epoch]
        if not chains:
            return None
        ledger.sources[key] = chains[-1]
    return ledger.sources[key]


class Happening(Protocol):
    """One line of a world's log."""

    @property
    def kind(self) -> str: ...
    @property
    def detail(self) -> Mapping[str, object]: ...


class HasState(Protocol):
    """A task as its worker runs it."""

    @property
    def state(self) -> TaskState: ...


class WorkerSeen(Protocol):
    """One process of a worker."""

    @property
    def id(self) -> str: ...
    @property
    def incarnation(self) -> int: ...
    @property
    def alive(self) -> bool: ...
    @property
    def frozen(self) -> bool: ...
    @property
    def tasks(self) -> Mapping[str, HasState]: ...
    @property
    def journals(self) -> Mapping[str, bytes]:
        """Task -> what its journal holds for certain, whatever happens to the power."""
        ...


class KafkaSeen(Protocol):
    """What was ever written to Kafka."""

    def records(
        self, topic: str, partition: int, topic_id: str
    ) -> Sequence[tuple[int, int | None, str]]:
        """Return (offset, id, kind); only kind "data" belongs into a table."""
        ...

    def holds(self, topic: str, partition: int, topic_id: str, offset: int) -> bool:
        """Tell whether a reader of this topic id can go on at an offset now."""
        ...


class WarehouseSeen(Protocol):
    """What is on disk."""

    @property
    def files(self) -> Iterable[str]:
        """The paths of all files."""
        ...

    @property
    def removals(self) -> int:
        """How often files went."""
        ...

    def durable(self, path: str) -> bool:
        """Tell whether a file is there, and stays without power."""
        ...

    def rows(self, path: str) -> Sequence[tuple[TopicPartition, int, int | None]] | None:
        """Return the rows of a data file; None if it is not there."""
        ...


class Exported(Protocol):
    """One version of an exported table."""

    @property
    def at(self) -> float:
        """When it was written."""
        ...

    @property
    def sequence(self) -> int:
        """The number of the list that it was made of, as its writer says."""
        ...

    @property
    def term(self) -> int:
        """The term in which its writer began."""
        ...

    @property
    def files(self) -> Mapping[str, int]:
        """Path below the table's folder -> size in bytes."""
        ...


class TablesSeen(Protocol):
    """The life of tables."""

    @property
    def runs(self) -> bool:
        """Whether files leave their tables, or are exported."""
        ...

    @property
    def grace_s(self) -> float:
        """So long a file stays at least once it has left its table; 0: clocks differ too much."""
        ...

    def exported(self) -> Mapping[tuple[str, str], Sequence[Exported]]:
        """Return table and format of each export -> its versions, oldest first."""
        ...


class ClockSeen(Protocol):
    """The time that no process of the world can bend."""

    def monotonic(self) -> float:
        """Return seconds."""
        ...


class Watched(Protocol):
    """What the checkers look at; the simulator's `World` is one."""

    @property
    def ledger(self) -> Ledger: ...
    @property
    def store_connection(self) -> sqlite3.Connection: ...
    @property
    def kafka(self) -> KafkaSeen: ...
    @property
    def warehouse(self) -> WarehouseSeen: ...
    @property
    def workers(self) -> Iterable[WorkerSeen]: ...
    @property
    def clock(self) -> ClockSeen: ...
    @property
    def log(self) -> Sequence[Happening]: ...
    @property
    def held_back(self) -> Iterable[str]:
        """Supervisors that cannot go on, whatever ends: nothing of theirs has to be published."""
        ...

    @property
    def secrets(self) -> Iterable[str]:
        """Canaries: texts that nobody may store (I12)."""
        ...

    @property
    def tables(self) -> TablesSeen: ...
