"""The metadata database in memory: for simulation and tests, with the rules of the real one.

One writer at a time, a rollback when its block raises, readers on the last committed state.
Nothing outlives the process.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from supervisor.adapters.memory_access import MemoryAccess
from supervisor.adapters.memory_compactions import MemoryCompactions
from supervisor.adapters.memory_events import MemoryEvents
from supervisor.adapters.memory_exports import MemoryExports
from supervisor.adapters.memory_generations import MemoryGenerations
from supervisor.adapters.memory_lease import MemoryLease, require_term
from supervisor.adapters.memory_offsets import MemoryOffsets
from supervisor.adapters.memory_records import (
    MemoryAudit,
    MemoryInstallation,
    MemoryPlans,
    MemoryRetention,
)
from supervisor.adapters.memory_rows import Tables
from supervisor.adapters.memory_segments import MemorySegments
from supervisor.adapters.memory_specs import MemorySpecs
from supervisor.adapters.memory_tasks import MemoryTasks
from supervisor.adapters.memory_workers import MemoryWorkers
from supervisor.core.errors import MetadataBusy
from supervisor.ports import (
    Audit,
    Installation,
    LeaseTable,
    Plans,
    Specs,
    Tasks,
    Transaction,
    WorkersTable,
)
from supervisor.ports_access import Access
from supervisor.ports_compaction import Compactions
from supervisor.ports_events import Events, Heard
from supervisor.ports_exports import Exports
from supervisor.ports_ranges import Generations, OffsetsTable
from supervisor.ports_segments import Retention, Segments


@dataclass
class MemoryTransaction:
    """The repositories over one state of the tables."""

    specs: Specs
    offsets: OffsetsTable
    generations: Generations
    tasks: Tasks
    workers: WorkersTable
    segments: Segments
    retention: Retention
    exports: Exports
    compactions: Compactions
    plans: Plans
    audit: Audit
    lease: LeaseTable
    events: Events
    installation: Installation
    access: Access

    @classmethod
    def on(cls, tables: Tables, events: Events) -> "MemoryTransaction":
        """Build every repository but `events` over the same tables."""
        return cls(
            specs=MemorySpecs(tables),
            offsets=MemoryOffsets(tables),
            generations=MemoryGenerations(tables),
            tasks=MemoryTasks(tables),
            workers=MemoryWorkers(tables),
            segments=MemorySegments(tables),
            retention=MemoryRetention(tables),
            exports=MemoryExports(tables),
            compactions=MemoryCompactions(tables),
            plans=MemoryPlans(tables),
            audit=MemoryAudit(tables),
            lease=MemoryLease(tables),
            events=events,
            installation=MemoryInstallation(),
            access=MemoryAccess(tables),
        )


class MemoryStore:
    """A `Store` without a database; safe to share between threads."""

    def __init__(self, lock_timeout_s: float = 5.0) -> None:
        """Begin empty.  A writer waits at most `lock_timeout_s` for its turn."""
        self._committed = Tables()
        self._turn = threading.Lock()
        self._lock_timeout_s = lock_timeout_s
        self._heard: Heard | None = None

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that only reads: one consistent view."""
        return self._reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        """Open a writing transaction without a term: lease, principals, denied tries."""
        return self._writing()

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        """Open a writing transaction of a leader.

        Raises:
            LeaseLost: `term` is not the present one.
            MetadataBusy: another writer did not end in time.
        """
        return self._writing(term)

    def on_added(self, heard: Heard) -> None:
        """Tell `heard`, in place of the one before, after each commit that added events."""
        self._heard = heard

    @contextmanager
    def _reading(self) -> Iterator[MemoryTransaction]:
        committed = self._committed
        yield MemoryTransaction.on(committed, MemoryEvents(committed, writable=False))

    @contextmanager
    def _writing(self, term: int | None = None) -> Iterator[MemoryTransaction]:
        if not self._turn.acquire(timeout=self._lock_timeout_s):
            raise MetadataBusy("another transaction holds the metadata in memory")
        draft = self._committed.draft()
        try:
            if term is not None:
                require_term(draft, term)
            events = MemoryEvents(draft)
            yield MemoryTransaction.on(draft, events)
            added = events.flush()
            self._committed = draft
        finally:
            draft.freeze()
            self._turn.release()
        if added and self._heard is not None:
            self._heard(added)
