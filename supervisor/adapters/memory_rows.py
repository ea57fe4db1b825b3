"""Tables in memory whose transactions nobody else sees before they are committed.

committed ── draft() ──► draft: shares every table, copies one at its first write
▲                      │
└───── freeze() ───────┘   or it is dropped: a rollback
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Generic, TypeVar

from supervisor.core.access import DeniedTry, Principal
from supervisor.core.compaction import Compaction, CompactionRule
from supervisor.core.events import FailedEvent, QueueName, QueueRow, StoredEvent
from supervisor.core.exports import Export
from supervisor.core.happenings import Happening
from supervisor.core.idempotency import KeyRow
from supervisor.core.lag import Lag
from supervisor.core.model import (
    AuditEntry,
    CommittedOffset,
    Generation,
    Lease,
    OffsetGap,
    Publication,
    RetentionRule,
    Segment,
    SpecVersion,
    StoredPlan,
    Task,
    WorkerRow,
)
from supervisor.core.operations import Operation
from supervisor.core.spec_exports import ExportFormat
from supervisor.ports_watched import StoredState
from tasks.offsets import TopicPartition

Key = TypeVar("Key")
Value = TypeVar("Value")


class Rows(Mapping[Key, Value], Generic[Key, Value]):
    """One table, by key, in the order of insertion."""

    def __init__(self, rows: dict[Key, Value] | None = None, *, writable: bool = False) -> None:
        """Share `rows`: they are copied before the first write."""
        self._rows: dict[Key, Value] = {} if rows is None else rows
        self._shared = True
        self._writable = writable

    def __getitem__(self, key: Key) -> Value:
        return self._rows[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def get_row(self, key: Key) -> Value | None:
        """Return the row, None if there is none."""
        return self._rows.get(key)

    def put(self, key: Key, row: Value) -> None:
        """Insert or replace."""
        self._own()[key] = row

    def drop(self, key: Key) -> None:
        """Delete, if it is there."""
        self._own().pop(key, None)

    def draft(self) -> "Rows[Key, Value]":
        """Return a writable table with the same rows."""
        return Rows(self._rows, writable=True)

    def freeze(self) -> None:
        """Refuse writes from now on."""
        self._writable = False

    def _own(self) -> dict[Key, Value]:
        assert self._writable, "a transaction that reads, or has ended, does not write"
        if self._shared:
            self._rows = dict(self._rows)
            self._shared = False
        return self._rows


@dataclass(frozen=True)
class Tables:
    """Everything that is stored."""

    specs: Rows[str, tuple[SpecVersion, ...]] = field(default_factory=Rows)
    """Supervisor -> versions, oldest first."""
    offsets: Rows[str, Mapping[TopicPartition, CommittedOffset]] = field(default_factory=Rows)
    gaps: Rows[str, tuple[OffsetGap, ...]] = field(default_factory=Rows)
    live: Rows[str, Generation] = field(default_factory=Rows)
    """Generation id -> a generation that has work to do."""
    ended: Rows[str, Generation] = field(default_factory=Rows)
    tasks: Rows[str, Task] = field(default_factory=Rows)
    active: Rows[str, None] = field(default_factory=Rows)
    """Ids of active tasks: the index of the question that each pass asks."""
    attempts: Rows[str, tuple[str, ...]] = field(default_factory=Rows)
    """Generation id -> its tasks."""
    workers: Rows[str, WorkerRow] = field(default_factory=Rows)
    publications: Rows[str, Publication] = field(default_factory=Rows)
    segments: Rows[str, Segment] = field(default_factory=Rows)
    retention: Rows[str, RetentionRule] = field(default_factory=Rows)
    exports: Rows[tuple[str, ExportFormat], Export] = field(default_factory=Rows)
    compactions: Rows[str, Compaction] = field(default_factory=Rows)
    compaction_rules: Rows[str, CompactionRule] = field(default_factory=Rows)
    plans: Rows[str, tuple[StoredPlan, ...]] = field(default_factory=Rows)
    """Supervisor -> plans, newest first."""
    audit: Rows[int, AuditEntry] = field(default_factory=Rows)
    states: Rows[str, StoredState] = field(default_factory=Rows)
    lag: Rows[tuple[str, datetime], Lag] = field(default_factory=Rows)
    operations: Rows[int, Operation] = field(default_factory=Rows)
    happenings: Rows[int, Happening] = field(default_factory=Rows)
    keys: Rows[tuple[str, str], KeyRow] = field(default_factory=Rows)
    lease: Rows[str, Lease] = field(default_factory=Rows)
    """One row."""
    queues: Rows[QueueName, QueueRow] = field(default_factory=Rows)
    events: Rows[int, tuple[StoredEvent, ...]] = field(default_factory=Rows)
    """Queue id -> its rows, ascending."""
    failed: Rows[tuple[QueueName, int], FailedEvent] = field(default_factory=Rows)
    """(Queue, number) -> what was set aside."""
    principals: Rows[str, Principal] = field(default_factory=Rows)
    denied: Rows[int, DeniedTry] = field(default_factory=Rows)

    def draft(self) -> "Tables":
        """Begin a change that nobody sees yet."""
        return Tables(**{f.name: getattr(self, f.name).draft() for f in fields(self)})

    def freeze(self) -> None:
        """End the transaction: its repositories write no more."""
        for one in fields(self):
            getattr(self, one.name).freeze()
