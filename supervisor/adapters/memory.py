"""The metadata database in memory: for simulation and tests, with the rules of the real one.

One writer at a time, a rollback when its block raises, readers on the last committed state.
Nothing outlives the process.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from supervisor.adapters.memory_access import MemoryAccess
from supervisor.adapters.memory_compactions import MemoryCompactions
from supervisor.adapters.memory_events import MemoryEvents
from supervisor.adapters.memory_exports import MemoryExports
from supervisor.adapters.memory_generations import MemoryGenerations
from supervisor.adapters.memory_happenings import KEPT, MemoryHappenings
from supervisor.adapters.memory_keys import MemoryKeys
from supervisor.adapters.memory_lease import MemoryLease, require_term
from supervisor.adapters.memory_offsets import MemoryOffsets
from supervisor.adapters.memory_operations import MemoryOperations
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
from supervisor.adapters.memory_watched import MemoryWatched
from supervisor.adapters.memory_workers import MemoryWorkers
from supervisor.core.errors import KeyTakenOver, MetadataBusy
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
from supervisor.ports_happenings import Happenings
from supervisor.ports_keys import Keys
from supervisor.ports_operations import OperationsTable
from supervisor.ports_ranges import Generations, OffsetsTable
from supervisor.ports_segments import Retention, Segments
from supervisor.ports_watched import Watched


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
    happenings: Happenings
    operations: OperationsTable
    watched: Watched
    keys: Keys
    access: Access

    @classmethod
    def on(cls, tables: Tables, events: Events, happenings: Happenings) -> "MemoryTransaction":
        """Build every repository but the given ones over the same tables."""
        tell = happenings.tell
        return cls(
            specs=MemorySpecs(tables, tell),
            offsets=MemoryOffsets(tables, tell),
            generations=MemoryGenerations(tables, tell),
            tasks=MemoryTasks(tables, tell),
            workers=MemoryWorkers(tables),
            segments=MemorySegments(tables),
            retention=MemoryRetention(tables),
            exports=MemoryExports(tables),
            compactions=MemoryCompactions(tables, tell),
            plans=MemoryPlans(tables),
            audit=MemoryAudit(tables),
            lease=MemoryLease(tables),
            events=events,
            installation=MemoryInstallation(),
            happenings=happenings,
            operations=MemoryOperations(tables),
            watched=MemoryWatched(tables),
            keys=MemoryKeys(tables),
            access=MemoryAccess(tables),
        )


class MemoryStore:
    """A `Store` without a database; safe to share between threads."""

    def __init__(self, lock_timeout_s: float = 5.0, *, happenings_kept: int = KEPT) -> None:
        """Begin empty.  A writer waits at most `lock_timeout_s` for its turn."""
        self._happenings_kept = happenings_kept
        self._committed = Tables()
        self._turn = threading.Lock()
        self._lock_timeout_s = lock_timeout_s
        self._heard: Heard | None = None
        self._acts_for: ContextVar[str | None] = ContextVar("acts_for", default=None)

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

    @contextmanager
    def acting_for(self, claim_id: str) -> Iterator[None]:
        """Mark the claim as acted in each leader's transaction that this context opens."""
        before = self._acts_for.set(claim_id)
        try:
            yield
        finally:
            self._acts_for.reset(before)

    def on_added(self, heard: Heard) -> None:
        """Tell `heard`, in place of the one before, after each commit that added events."""
        self._heard = heard

    @contextmanager
    def _reading(self) -> Iterator[MemoryTransaction]:
        committed = self._committed
        events = MemoryEvents(committed, writable=False)
        happenings = MemoryHappenings(committed, writable=False)
        yield MemoryTransaction.on(committed, events, happenings)

    @contextmanager
    def _writing(self, term: int | None = None) -> Iterator[MemoryTransaction]:
        if not self._turn.acquire(timeout=self._lock_timeout_s):
            raise MetadataBusy("another transaction holds the metadata in memory")
        draft = self._committed.draft()
        try:
            if term is not None:
                require_term(draft, term)
                claim = self._acts_for.get()
                if claim is not None and not MemoryKeys(draft).act(claim):
                    raise KeyTakenOver("another request with the same Idempotency-Key acts instead")
            events = MemoryEvents(draft)
            happenings = MemoryHappenings(draft, kept=self._happenings_kept)
            yield MemoryTransaction.on(draft, events, happenings)
            added = events.flush()
            happenings.flush()
            self._committed = draft
        finally:
            draft.freeze()
            self._turn.release()
        if added and self._heard is not None:
            self._heard(added)
