"""A store whose leader is overtaken: another overlord's term commits inside its transaction.

    leader   BEGIN, reads its term FOR SHARE, writes ............................ COMMIT: refused
    rival                                              waits │ ⚡ session cut, term + 1 committed

The share lock makes the rival wait (P1).  What ends the wait in life is that the leader's session
idles for too long, because it is frozen; here the session is cut, which is what the server does.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psycopg
from psycopg import sql
from sqlalchemy import Connection, text

import supervisor
from supervisor.core.values.errors import LeaseLost, Unavailable
from supervisor.metadata.schema.tables import leader_term
from supervisor.metadata.store import SqlStore, SqlTransaction
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import OverlordStore, Transaction
from supervisor.ports.touched import OnTouched
from tests.conformance.stories import SHORT_TTL, take_lease

SOURCES = Path(supervisor.__file__).parent
Dump = dict[str, list[str]]
_TABLES = tuple(
    name for name in sorted(leader_term.metadata.tables) if not name.startswith("leader_")
)


@dataclass(frozen=True, order=True)
class Site:
    """Where a leader writes: module, function, and which action or verb."""

    module: str
    function: str
    what: str


@dataclass
class Overtaken:
    """Implements `Store`; each kind of write is overtaken the first time that it is made."""

    store: SqlStore
    url: str
    step: str = ""
    """What the story does now."""
    struck: Site | None = None
    """What was overtaken since this was last cleared."""
    seen: set[Site] = field(default_factory=set)
    strikes: bool = True
    """Whether writes are overtaken now."""
    idle: set[Site] = field(default_factory=set)
    """Whose transactions had changed no row when they were overtaken."""

    def __post_init__(self) -> None:
        """Let the rival connect."""
        self.rival = SqlStore(self.url, lease_ttl=SHORT_TTL)

    def forget(self) -> None:
        """Forget that something was overtaken."""
        self.struck = None

    def close(self) -> None:
        """Let the rival go."""
        self.rival.close()

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.store.reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        return self.store.writing()

    def on_added(self, heard: Heard) -> None:
        self.store.on_added(heard)

    def on_touched(self, heard: OnTouched) -> None:
        self.store.on_touched(heard)

    def acting_for(self, claim_id: str) -> AbstractContextManager[None]:
        return self.store.acting_for(claim_id)

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        site = _site(sys._getframe(1), self.step)
        if site is None or site in self.seen or not self.strikes:
            return self.store.leading(term)
        return self._overtaken(term, site)

    @contextmanager
    def _overtaken(self, term: int, site: Site) -> Iterator[Transaction]:
        before = self.dump()
        try:
            with self.store.leading(term) as tx:
                yield tx
                self._overtake(tx, before, site)
        finally:
            assert self.dump() == before, f"{site}: the refused leader has written"

    def _overtake(self, tx: Transaction, before: Dump, site: Site) -> None:
        self.seen.add(site)
        self.struck = site
        if _dump(_connection(tx)) == before:
            self.idle.add(site)
        with psycopg.connect(self.url, autocommit=True) as rival:
            assert _locked(rival), f"{site}: no share lock on the term, a rival need not wait"
            rival.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE state = 'idle in transaction' AND datname = current_database()"
            )
        take_lease(self.rival, "rival")

    def begins(self, act: Callable[[], object]) -> bool:
        """Try something before it is done; return whether the rival leads now."""
        del act
        return False

    def step_down(self) -> None:
        """Let the rival give the lease up, so that the story goes on."""
        with self.rival.reading() as tx:
            lease = tx.lease.read()
        assert lease is not None
        assert lease.holder == "rival"
        with self.rival.writing() as tx:
            tx.lease.release(lease.term, "rival")

    def dump(self) -> Dump:
        """Return every row that a leader may write, as others see it."""
        with self.rival.reading() as tx:
            return _dump(_connection(tx))


class Deposed(Overtaken):
    """Each kind of write is made once by a leader that was deposed before, and does not know it.

    Deposed before it begins, a leader has its term from before, or looks it up: neither may do.
    """

    def begins(self, act: Callable[[], object]) -> bool:
        take_lease(self.rival, "rival")
        before, self.strikes = self.dump(), False
        try:
            with suppress(LeaseLost, Unavailable):
                act()
        finally:
            self.strikes = True
        assert self.dump() == before, f"{self.step}: a deposed leader has written"
        return True

    @contextmanager
    def _overtaken(self, term: int, site: Site) -> Iterator[Transaction]:
        self.seen.add(site)
        self.struck = site
        take_lease(self.rival, "rival")
        before = self.dump()
        try:
            with self.store.leading(term) as tx:
                yield tx
        except LeaseLost:
            assert self.dump() == before, f"{site}: the deposed leader has written"
            raise
        raise AssertionError(f"{site}: a leader of an earlier term may write")


def _locked(rival: psycopg.Connection) -> bool:
    try:
        rival.execute("SELECT term FROM leader_term FOR NO KEY UPDATE NOWAIT")
    except psycopg.errors.LockNotAvailable:
        return True
    return False


def _connection(tx: Transaction) -> Connection:
    assert isinstance(tx, SqlTransaction)
    found: Connection = vars(tx.lease)["_db"]
    return found


def _dump(connection: Connection) -> Dump:
    def rows(table: str) -> list[str]:
        query = sql.SQL("SELECT t::text FROM {} t ORDER BY 1").format(sql.Identifier(table))
        return list(connection.execute(text(query.as_string())).scalars())

    return {table: rows(table) for table in _TABLES}


def _site(frame: FrameType | None, step: str) -> Site | None:
    """Return the function of the product that opens the transaction; None: it is a test."""
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if SOURCES in file.parents:
            action = frame.f_locals.get("action")
            what = step if action is None else type(action).__name__
            return Site(file.relative_to(SOURCES).as_posix(), frame.f_code.co_name, what)
        frame = frame.f_back
    return None


def _is_store(store: Overtaken) -> OverlordStore:
    return store  # proven by the type checker


def uses_of_leading() -> set[tuple[str, str]]:
    """Return module and function of every transaction of a leader in the product."""
    return {
        (file.relative_to(SOURCES).as_posix(), function.name)
        for file in SOURCES.rglob("*.py")
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "leading"
    }
