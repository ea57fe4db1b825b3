"""The product's SQL on SQLite in memory, with a crash point at every port call.

One connection serves a whole run: transactions follow each other, as SQLite's writers do.  What
a reading transaction was answered is kept until the next commit: the rows cannot have changed.
"""

import re
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from functools import cache
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from supervisor.core.model.rows import StoredPlan
from supervisor.database.engine import Bounds
from supervisor.metadata.store import SqlStore
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Plans, Transaction
from supervisor.ports.touched import OnTouched
from tests.sqlite_memory import template

_TABLES = {
    "supervisor_specs": ("specs",),
    "committed_offsets": ("offsets",),
    "offset_gaps": ("offsets",),
    "generations": ("generations",),
    "generation_partitions": ("generations",),
    "tasks": ("tasks",),
    "publications": ("segments",),
    "segments": ("segments", "desired"),
    "column_sets": ("segments",),
    "compactions": ("desired",),
    "segment_spans": ("segments",),
    "workers": ("workers",),
    "leader_term": ("lease",),
    "leader_renewal": ("lease",),
    "event_queues": ("events",),
    "event_positions": ("events",),
    "events_failed": ("events",),
}
"""Table -> repositories whose answers come from it."""
_JOINED = {"slots_in_use", "unsettled_folders"}
"""Methods of the tasks' repository that read generations as well."""
_OF_ENDED = {"last_attempts", "failures_in_a_row", "failed_attempts", "last_ended"}
"""Methods of the tasks' repository that read ended tasks alone: a new one changes no answer."""
_WRITES = re.compile(r"\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM) (\w+)")


_written: list[str] = []
"""Statements since the last writing transaction began."""


@cache
def _shared() -> tuple[sqlite3.Connection, sa.Engine]:
    """Return the connection of every run of this process: compiled statements are kept."""
    raw = sqlite3.connect(":memory:", check_same_thread=False, cached_statements=1_000)
    raw.isolation_level = None
    raw.execute("PRAGMA foreign_keys = ON")
    raw.set_trace_callback(_written.append)
    engine = sa.create_engine("sqlite+pysqlite://", creator=lambda: raw, poolclass=StaticPool)
    # As `metadata/engine.py` does; without its listeners, which cost a tenth of a run's time.
    vars(engine.dialect)["do_begin"] = lambda connection: connection.execute("BEGIN")
    return raw, engine


_Answers = dict[tuple[str, ...], object]


class MemoryDatabase:
    """One run's database: emptied when it is made."""

    def __init__(self) -> None:
        self.raw, self.engine = _shared()
        if self.raw.in_transaction:
            self.raw.rollback()
        template().backup(self.raw)
        self.answers: dict[str, _Answers] = {name: {} for name in _REPOSITORIES}

    def changed(self, statements: Collection[str]) -> None:
        """Forget what reading transactions were answered from rows that were written."""
        for statement in statements:
            if (written := _WRITES.match(statement)) is not None:
                if statement.startswith("INSERT INTO tasks"):
                    self._forget("tasks", lambda method: method not in _OF_ENDED)
                    continue
                for name in _TABLES.get(written[1], ()):
                    self.answers[name].clear()
                if written[1] == "generations":
                    self._forget("tasks", lambda method: method in _JOINED)

    def _forget(self, name: str, meant: Callable[[str], bool]) -> None:
        kept = self.answers[name]
        for key in [k for k in kept if meant(k[0])]:
            del kept[key]

    def term(self) -> int:
        """Return the term of the lease row."""
        row = self.raw.execute("SELECT term FROM leader_term").fetchone()
        return 0 if row is None else int(row[0])

    def holder(self) -> str:
        """Return who holds the lease; empty: nobody."""
        row = self.raw.execute("SELECT holder FROM leader_term").fetchone()
        return "" if row is None else str(row[0])


_REPOSITORIES = frozenset(name for names in _TABLES.values() for name in names)


class _Lazy:
    """A reading transaction that is opened when something is asked that is not known."""

    def __init__(self, store: SqlStore, answers: dict[str, _Answers]) -> None:
        self._store = store
        self.answers = answers
        self._stack = ExitStack()
        self._real: Transaction | None = None

    def real(self) -> Transaction:
        if self._real is None:
            self._real = self._stack.enter_context(self._store.reading())
        return self._real

    def close(self) -> None:
        self._stack.close()

    def __getattr__(self, name: str) -> object:
        if name in _REPOSITORIES:
            return _Remembering(self, name, self.answers[name])
        return getattr(self.real(), name)


class _Remembering:
    """A repository whose answers are kept until its rows are written."""

    def __init__(self, transaction: _Lazy, name: str, kept: _Answers) -> None:
        self._transaction = transaction
        self._name = name
        self._kept = kept

    def __getattr__(self, method: str) -> Callable[..., object]:
        kept = self._kept

        def ask(*args: object, **options: object) -> object:
            key = (method, repr(args), repr(options))
            if key not in kept:
                kept[key] = self._read_through(method, args, options)
            answer = kept[key]
            if isinstance(answer, list):
                return list(answer)
            return dict(answer) if isinstance(answer, dict) else answer

        return ask

    def _read_through(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> object:
        real = getattr(self._transaction.real(), self._name)
        if (self._name, method) == ("generations", "get"):
            # Live ones are asked for one by one: all of them are read at once.
            for generation in real.live():
                self._kept[method, repr((generation.id,)), repr({})] = generation
            if (found := self._kept.get((method, repr(args), repr(options)))) is not None:
                return found
        return cast("object", getattr(real, method)(*args, **options))


class _Noting:
    """A repository whose use is told of first."""

    def __init__(self, real: object, heard: Callable[[str, tuple[object, ...]], None]) -> None:
        self._real = real
        self._heard = heard

    def __getattr__(self, method: str) -> Callable[..., object]:
        real = getattr(self._real, method)

        def ask(*args: object, **options: object) -> object:
            self._heard(method, args)
            return cast("object", real(*args, **options))

        return ask


class _InMemory(SqlStore):
    """The product's store over the shared connection."""

    def __init__(self, database: MemoryDatabase, lease_ttl: timedelta) -> None:
        super().__init__("sqlite:///unused.db", lease_ttl=lease_ttl)
        self._bounds = Bounds.below(lease_ttl)
        self._engine = self._writers = database.engine


Reached = Callable[[str], None]
"""Told of each crash point that is reached; may raise `Crash`, or an error of the product."""


class SimStore:
    """One overlord process's way to the database; implements `ports.Store`."""

    def __init__(
        self,
        database: MemoryDatabase,
        lease_ttl: timedelta,
        *,
        reached: Reached,
        committed: Callable[[int], None],
    ) -> None:
        self._database = database
        self._real = _InMemory(database, lease_ttl)
        self._reached = reached
        self._committed = committed
        self._doing = ""
        self._actions: list[str] = []
        """What the pass under way has still to carry out."""

    @contextmanager
    def at(self, doing: str) -> Iterator[None]:
        """Name what this process does now; it may be held up, and do something else meanwhile."""
        before = self._doing, self._actions
        self._doing, self._actions = doing, []
        try:
            yield
        finally:
            self._doing, self._actions = before

    def on_added(self, heard: Heard) -> None:
        """Tell of added events."""
        self._real.on_added(heard)

    def on_touched(self, heard: OnTouched) -> None:
        """Tell of what transactions touched."""
        self._real.on_touched(heard)

    def on_fenced(self, heard: Callable[[int], None]) -> None:
        """Tell of transactions that are refused as an old leader's."""
        self._real.on_fenced(heard)

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that only reads."""
        return self._reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that changes the lease."""
        return self._writing()

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        """Open a writing transaction of a leader."""
        return self._leading(term)

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        self._reached("store.reading:before")
        tx = _Lazy(self._real, self._database.answers)
        try:
            yield cast("Transaction", tx)
        finally:
            tx.close()

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        self._reached("store.writing:before")
        _written.clear()
        with self._real.writing() as tx:
            yield tx
        self._database.changed(_written)
        self._reached("store.writing:after")

    @contextmanager
    def _leading(self, term: int) -> Iterator[Transaction]:
        what = self._actions.pop(0) if self._actions else self._doing
        self._reached(f"store.leading:before {what}")
        _written.clear()
        with self._real.leading(term) as tx:
            any_tx = cast("Any", tx)
            any_tx.plans = cast("Plans", _Noting(tx.plans, self._plan_noted))
            yield tx
            self._reached(f"store.leading:inside {what}")
        self._database.changed(_written)
        self._committed(term)
        self._reached(f"store.leading:after {what}")

    def _plan_noted(self, method: str, args: tuple[object, ...]) -> None:
        if method == "record" and isinstance(args[0], StoredPlan):
            self._actions = [action["action"] for action in args[0].actions]
