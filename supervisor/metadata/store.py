"""The `Store` on SQLite or PostgreSQL: how its transactions begin and end.

reading   one consistent view: a deferred transaction, or REPEATABLE READ and READ ONLY
writing   BEGIN IMMEDIATE, or READ COMMITTED; every change is a guarded one
leading   writing, and its first statement reads the term row with a share lock (P1)

Queued events are numbered just before the commit, and listeners are notified just after it.
Lifecycle events are numbered after the queued events.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from supervisor.core.history.lifecycle_events import LifecycleEvent
from supervisor.core.values.errors import (
    KeyTakenOver,
    LeaseLost,
    MetadataBusy,
    MetadataUnavailable,
    SupervisorError,
)
from supervisor.database.engine import WRITES, Bounds, create_engine, optimize
from supervisor.metadata.archive import SqlArchive
from supervisor.metadata.installation import SqlInstallation
from supervisor.metadata.parsed_specs import ParsedSpecs
from supervisor.metadata.repositories.access import SqlAccess
from supervisor.metadata.repositories.audit import SqlAudit
from supervisor.metadata.repositories.compaction import SqlCompactions
from supervisor.metadata.repositories.expiry import SqlExpiry
from supervisor.metadata.repositories.exports import SqlExports
from supervisor.metadata.repositories.generations import SqlGenerations
from supervisor.metadata.repositories.idempotency import SqlKeys
from supervisor.metadata.repositories.lease import SqlLease, require_term
from supervisor.metadata.repositories.lifecycle import KEPT, SqlLifecycleEvents
from supervisor.metadata.repositories.offsets import SqlOffsets
from supervisor.metadata.repositories.operations import SqlOperations
from supervisor.metadata.repositories.plans import SqlPlans
from supervisor.metadata.repositories.queue_events import SqlEvents
from supervisor.metadata.repositories.retention import SqlRetention
from supervisor.metadata.repositories.segments import SqlSegments
from supervisor.metadata.repositories.specs import SqlSpecs
from supervisor.metadata.repositories.state_history import SqlWatched
from supervisor.metadata.repositories.tasks import SqlTasks
from supervisor.metadata.repositories.workers import SqlWorkers
from supervisor.ports.access import Access
from supervisor.ports.expiry import Expiry
from supervisor.ports.generations import Generations, OffsetsTable
from supervisor.ports.idempotency import Keys
from supervisor.ports.lifecycle import LifecycleEvents
from supervisor.ports.operations import OperationsTable
from supervisor.ports.queue_events import Events, Heard
from supervisor.ports.reports.archive import Archive
from supervisor.ports.specs import Specs
from supervisor.ports.state_history import Watched
from supervisor.ports.store import (
    Audit,
    Installation,
    LeaseTable,
    Plans,
    Tasks,
    Transaction,
)
from supervisor.ports.tables.compaction import Compactions
from supervisor.ports.tables.exports import Exports
from supervisor.ports.tables.segments import Retention, Segments
from supervisor.ports.touched import OnTouched, Touched
from supervisor.ports.workers.workers import WorkersTable

Measured = Callable[[str, str, float], None]
_OUTCOMES: dict[type[SupervisorError], str] = {
    MetadataBusy: "busy",
    MetadataUnavailable: "unavailable",
    LeaseLost: "fenced",
}


@dataclass
class SqlTransaction:
    """The repositories of one connection, whose transaction belongs to the caller."""

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
    happenings: LifecycleEvents
    operations: OperationsTable
    watched: Watched
    keys: Keys
    access: Access
    expiry: Expiry
    archive: Archive

    @classmethod
    def on(
        cls,
        connection: Connection,
        events: Events,
        happenings: LifecycleEvents,
        parsed: ParsedSpecs,
        touched: Touched,
    ) -> "SqlTransaction":
        """Build every repository but the given ones on one connection."""
        record_event = happenings.record
        ranges = SqlGenerations(connection, record_event, touched)
        files = SqlSegments(connection, touched)
        return cls(
            specs=SqlSpecs(connection, record_event, parsed, touched),
            offsets=SqlOffsets(connection, record_event, touched),
            generations=ranges,
            tasks=SqlTasks(connection, record_event, touched),
            workers=SqlWorkers(connection, touched),
            segments=files,
            retention=SqlRetention(connection),
            exports=SqlExports(connection),
            compactions=SqlCompactions(connection, record_event, touched),
            plans=SqlPlans(connection),
            audit=SqlAudit(connection),
            lease=SqlLease(connection),
            events=events,
            installation=SqlInstallation(connection),
            happenings=happenings,
            operations=SqlOperations(connection, ranges),
            watched=SqlWatched(connection),
            keys=SqlKeys(connection),
            access=SqlAccess(connection),
            expiry=SqlExpiry(connection, files),
            archive=SqlArchive(connection),
        )


class SqlStore:
    """A migrated SQLite or PostgreSQL database; safe to share between threads."""

    def __init__(
        self, url: str, *, lease_ttl: timedelta, pool_size: int = 16, happenings_kept: int = KEPT
    ) -> None:
        """Prepare the pool; the first transaction opens the first connection."""
        self._url = url
        self._lease_ttl = lease_ttl
        self._happenings_kept = happenings_kept
        self._bounds = Bounds.below(lease_ttl, pool_size)
        self._engine = create_engine(url, self._bounds)
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        self._writers = self._engine
        if self._is_sqlite:
            # Writers have a pool of their own.  A writer that has its turn never waits for a
            # reader to return a connection.  So no other writer, such as the renewal of the
            # lease, waits behind it for a connection.
            self._writers = create_engine(url, replace(self._bounds, pool_size=1))
        self._parsed = ParsedSpecs()
        self._turn = threading.Lock()
        self._beside: list[SqlStore] = []
        self._heard: Heard | None = None
        self._fenced: Callable[[int], None] | None = None
        self._committed: Callable[[Sequence[LifecycleEvent]], None] = lambda _: None
        self._on_touched: list[OnTouched] = []
        self._measured: Measured = lambda _, __, ___: None
        self._acts_for: ContextVar[str | None] = ContextVar("acts_for", default=None)

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a read-only transaction with one consistent view."""
        return self._reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        """Open a writing transaction without a term, for the lease, principals and denied tries."""
        return self._writing()

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        """Open a writing transaction of a leader.

        Raises:
            LeaseLost: `term` is not the present one.
            MetadataBusy: the database did not accept the transaction in time.
            MetadataUnavailable: the database cannot be reached.
        """
        return self._writing(term)

    @contextmanager
    def acting_for(self, claim_id: str) -> Iterator[None]:
        """Mark the claim as acted, in each leader's transaction opened in this context."""
        before = self._acts_for.set(claim_id)
        try:
            yield
        finally:
            self._acts_for.reset(before)

    def on_added(self, heard: Heard) -> None:
        """Call `heard` after each commit that added queued events; it replaces the one before."""
        self._heard = heard

    def on_fenced(self, heard: Callable[[int], None]) -> None:
        """Call `heard` with the term, whenever a transaction is refused because of an old term."""
        self._fenced = heard

    def on_committed(self, heard: Callable[[Sequence[LifecycleEvent]], None]) -> None:
        """Call `heard` with the lifecycle events of each transaction after its commit."""
        self._committed = heard

    def on_touched(self, heard: OnTouched) -> None:
        """Call `heard` after each commit that touched something, before its caller goes on.

        A commit without an answer is announced too: it may have been carried out.
        """
        self._on_touched.append(heard)

    def on_measured(self, heard: Measured) -> None:
        """Call `heard` after each transaction with its kind, its outcome and its seconds."""
        self._measured = heard

    def for_lease(self) -> "SqlStore":
        """Return a store of the same database with one connection of its own.

        The lease can be renewed however many transactions hold the connections of this store.
        Writers of one process still take turns on SQLite.  The new store reports its measurements
        through this store, and it is closed with this store.
        """
        own = SqlStore(self._url, lease_ttl=self._lease_ttl, pool_size=1)
        own._turn = self._turn
        own.on_measured(self._measure)
        self._beside.append(own)
        return own

    def optimize(self) -> None:
        """Update SQLite's planner statistics; PostgreSQL updates its own by itself.

        Raises:
            MetadataBusy, MetadataUnavailable: the statistics are unchanged.
        """
        if not self._is_sqlite:
            return
        with _errors_are_ours(), self._one_by_one(), self._writers.connect() as connection:
            connection.execution_options(**{WRITES: True})
            with connection.begin():
                optimize(connection)

    def close(self) -> None:
        """Close the pooled connections."""
        self._engine.dispose()
        self._writers.dispose()
        for own in self._beside:
            own.close()

    @contextmanager
    def _reading(self) -> Iterator[SqlTransaction]:
        with self._timed("reading"), _errors_are_ours(), self._engine.connect() as connection:
            if not self._is_sqlite:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield SqlTransaction.on(
                    connection,
                    SqlEvents(connection, writable=False),
                    SqlLifecycleEvents(connection, writable=False),
                    self._parsed,
                    Touched(),
                )

    @contextmanager
    def _writing(self, term: int | None = None) -> Iterator[SqlTransaction]:
        touched = Touched()
        with (
            self._announced(touched),
            self._timed("writing"),
            _errors_are_ours(),
            self._one_by_one(),
            self._writers.connect() as connection,
        ):
            connection.execution_options(**{WRITES: True})
            with connection.begin():
                if term is not None:
                    self._require_term(connection, term)
                    self._mark(connection)
                events = SqlEvents(connection)
                happenings = SqlLifecycleEvents(connection, kept=self._happenings_kept)
                yield SqlTransaction.on(connection, events, happenings, self._parsed, touched)
                added = events.flush()
                lifecycle_events = happenings.flush()  # last: see `repositories/lifecycle.py`
                touched.unsure = True  # from here on it is the database that decides
            touched.unsure, touched.committed = False, True
        if added and self._heard is not None:
            self._heard(added)
        if lifecycle_events:
            self._committed(lifecycle_events)

    @contextmanager
    def _announced(self, touched: Touched) -> Iterator[None]:
        """Announce what a transaction has touched, after its end and however it ended."""
        try:
            yield
        finally:
            if touched and (touched.committed or touched.unsure):
                for heard in self._on_touched:
                    heard(touched)

    def _mark(self, connection: Connection) -> None:
        claim = self._acts_for.get()
        # The compare: another request may have taken the key over and act, so this one must not.
        if claim is not None and not SqlKeys(connection).act(claim):
            raise KeyTakenOver("another request with the same Idempotency-Key acts instead")

    def _require_term(self, connection: Connection, term: int) -> None:
        try:
            require_term(connection, term)
        except LeaseLost:
            if self._fenced is not None:
                self._fenced(term)
            raise

    def _measure(self, kind: str, outcome: str, took_s: float) -> None:
        self._measured(kind, outcome, took_s)

    @contextmanager
    def _timed(self, kind: str) -> Iterator[None]:
        """Measure a transaction, including its wait for a turn and the work of its caller."""
        began, outcome = time.monotonic(), "ended"
        try:
            yield
        except SupervisorError as error:
            outcome = next((v for k, v in _OUTCOMES.items() if isinstance(error, k)), "rolled-back")
            raise
        except BaseException:
            outcome = "rolled-back"
            raise
        finally:
            self._measured(kind, outcome, time.monotonic() - began)

    def _one_by_one(self) -> AbstractContextManager[None]:
        """Make writers of this process take turns: SQLite's busy wait sleeps and is not fair."""
        return self._waited_turn() if self._is_sqlite else nullcontext()

    @contextmanager
    def _waited_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=self._bounds.lock.total_seconds()):
            raise MetadataBusy("another transaction of this process holds the metadata database")
        try:
            yield
        finally:
            self._turn.release()


@contextmanager
def _errors_are_ours() -> Iterator[None]:
    """Translate the errors that `engine.py` cannot: an exhausted pool, and bugs."""
    try:
        yield
    except PoolTimeoutError as error:
        raise MetadataBusy("all connections to the metadata database are in use") from error
    except SQLAlchemyError as error:
        raise AssertionError(f"the metadata database refused a statement: {error}") from error
