"""SQLAlchemy engines with bounded waits, and the translation of driver errors into our own.

Each wait is bounded below the lease's time to live (P1), so a leader that waits for the database
gets an error before its lease has expired.  Driver errors are translated where they are raised, so
a caller inside a transaction sees only our errors.
"""

import os
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool
from sqlalchemy.sql import FromClause

from supervisor.core.values.errors import MetadataBusy, MetadataUnavailable, SupervisorError

WRITES = "tidegate_writes"
"""Name of the execution option that says: the next transaction of this connection writes."""

_SWITCH_S, _SWITCH_PAUSE_S = 10.0, 0.01
"""For how long, and how often, a connection tries to give a new file its write-ahead log."""
_SQLITE_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_BROKEN = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PERM,
}
_POSTGRES_BUSY = {
    "25P03",  # idle in transaction for too long
    "40001",  # serialization failure
    "40P01",  # deadlock
    "53300",  # too many connections
    "55P03",  # lock not available in time
    "57014",  # statement cancelled: timeout
}
_POSTGRES_BROKEN = ("08", "25006", "28", "3D", "53", "57P", "58", "XX")
"""Prefixes of SQLSTATE codes.

Connection, standby, refused login, no database, resources, shutdown, disk.
"""


@dataclass(frozen=True)
class Bounds:
    """Timeouts of the waits in a transaction, and the size of the connection pool."""

    statement: timedelta
    lock: timedelta
    idle: timedelta
    """Between two statements of one transaction."""
    connect: timedelta
    pool_size: int = 16
    """Connections that may be open at once; 0: no pool, one connection is opened for each use."""

    @classmethod
    def below(cls, lease_ttl: timedelta, pool_size: int = 16) -> "Bounds":
        """Return the bounds of a leader, which stops acting at two thirds of `lease_ttl` (P2)."""
        third = lease_ttl / 3
        return cls(third, lease_ttl / 4, third, third, pool_size)


def create_engine(url: str, bounds: Bounds) -> Engine:
    """Return an engine for SQLite or PostgreSQL, which opens no connection yet.

    Raises:
        ValueError: the URL names another kind of database, or an in-memory SQLite database.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed, bounds)
    return _postgres(parsed, bounds)


def optimize(connection: Connection) -> None:
    """Update SQLite's planner statistics in the caller's transaction; do nothing on PostgreSQL.

    SQLite reads at most a thousand rows per index, and only where its statistics seem stale.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA analysis_limit = 1000")
        connection.exec_driver_sql("PRAGMA optimize = 0x10002")


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite URL; None for PostgreSQL."""
    parsed = _parse(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None


def bounded_url(url: str, within: timedelta) -> str:
    """Return the URL, password included, for a library that creates its own engine.

    No wait of that library's connections lasts longer than `within`.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() == "sqlite":
        bounds = {"timeout": f"{within.total_seconds():g}"}
    else:
        millis = _millis(within)
        given = parsed.query.get("options", "")
        options = [given] if isinstance(given, str) else list(given)
        options += [f"-c {name}={millis}" for name in ("statement_timeout", "lock_timeout")]
        bounds = {
            "options": " ".join(options).strip(),
            "connect_timeout": str(max(1, round(within.total_seconds()))),
            "tcp_user_timeout": str(millis),
            "application_name": "tidegate",
        }
    return parsed.update_query_dict(bounds).render_as_string(hide_password=False)


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        # The URL may hold a password, so the message does not repeat it.
        raise ValueError(
            "the metadata URL is not of the form sqlite:///file or postgresql://user@host/database"
        ) from error
    match parsed.drivername.partition("+")[0]:
        case "sqlite" if parsed.database and parsed.database != ":memory:":
            return parsed.set(drivername="sqlite+pysqlite")
        case "sqlite":
            raise ValueError("a SQLite metadata URL names a file: sqlite:///tidegate.db")
        case "postgresql" | "postgres":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ValueError(f"the metadata database is SQLite or PostgreSQL, not {other}")


class _WithHints(SQLiteCompiler):
    """Writes the hints `INDEXED BY` of a query behind its tables; SQLAlchemy leaves them out."""

    def get_from_hint_text(self, _: FromClause, text: str | None) -> str | None:
        return text


def with_sqlite_rules(engine: Engine) -> Engine:
    """Install our connection setup, transaction start and error translation; return the engine."""
    engine.dialect.statement_compiler = _WithHints
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "handle_error", _translate)
    return engine


def _sqlite(url: URL, bounds: Bounds) -> Engine:
    timeout_s = bounds.lock.total_seconds()
    engine = sa.create_engine(url, connect_args={"timeout": timeout_s}, **_pool(bounds))
    event.listen(engine, "do_connect", _make_private)
    return with_sqlite_rules(engine)


def _make_private(_: object, __: object, arguments: list[str], ___: object) -> None:
    """Create a missing database file for its owner alone: tokens of tasks are in it."""
    if arguments[0].startswith("file:"):
        return  # a URI, which may ask for anything
    with suppress(OSError):  # FileExistsError, or what connecting then reports better
        os.close(os.open(arguments[0], os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _prepare_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    connection.isolation_level = None  # the driver begins nothing by itself: `_begin_sqlite` does
    try:
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        # KiB of each connection: the default of 2,000 is tens of megabytes of the same pages.
        connection.execute("PRAGMA cache_size = -512")
    except sqlite3.Error as error:
        # Events run outside of SQLAlchemy's own error handling.
        raise _of_sqlite(error) or error from error


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Let a file have a write-ahead log.

    Where several connections switch a new file at once, SQLite refuses all but one at once: it
    does not wait as it does for other locks.
    """
    ends = time.monotonic() + _SWITCH_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE_BUSY
            if not busy or time.monotonic() > ends:
                raise
            time.sleep(_SWITCH_PAUSE_S)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    """Begin; a writer takes the write lock at once.

    A deferred transaction that reads and then writes would fail if another writer is active.
    """
    writes = bool(connection.get_execution_options().get(WRITES))
    connection.exec_driver_sql(f"PRAGMA query_only = {int(not writes)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgres(url: URL, bounds: Bounds) -> Engine:
    settings = {
        "statement_timeout": _millis(bounds.statement),
        "lock_timeout": _millis(bounds.lock),
        "idle_in_transaction_session_timeout": _millis(bounds.idle),
        "tcp_user_timeout": _millis(
            bounds.statement
        ),  # the server's own timeout, for a frozen client that receives nothing
        "timezone": "UTC",  # a time at the end of year 9999 has no place in an eastern zone
    }
    given = url.query.get("options", "")
    options = [given] if isinstance(given, str) else list(given)
    options += [f"-c {name}={value}" for name, value in settings.items()]
    engine = sa.create_engine(
        url,
        connect_args={
            "options": " ".join(options).strip(),
            "connect_timeout": max(1, round(bounds.connect.total_seconds())),
            "tcp_user_timeout": _millis(bounds.statement),
            "application_name": "tidegate",
        },
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        **_pool(bounds),
    )
    event.listen(engine, "handle_error", _translate)
    # The driver is an optional dependency: users of SQLite need not install it.
    from supervisor.database.client_timeouts import bound_waits, never_pipeline

    never_pipeline(engine)
    # Longer than the server's own timeout, because the server's message is the better one.
    bound_waits(engine, statement_s=1.25 * bounds.statement.total_seconds())
    return engine


def _pool(bounds: Bounds) -> dict[str, object]:
    if bounds.pool_size == 0:
        return {"poolclass": NullPool}
    return {
        "poolclass": QueuePool,
        "pool_size": bounds.pool_size,
        "max_overflow": 0,
        "pool_timeout": bounds.lock.total_seconds(),
    }


def _millis(duration: timedelta) -> int:
    # 0 would mean "no bound" to PostgreSQL.
    return max(1, round(duration / timedelta(milliseconds=1)))


def _translate(context: ExceptionContext) -> SupervisorError | None:
    if context.is_pre_ping:
        return None  # SQLAlchemy itself replaces a connection that died in the pool
    error = context.original_exception
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error)
    if context.sqlalchemy_exception is not None and isinstance(error, Exception):
        return _of_postgres(error, disconnected=context.is_disconnect)
    return None


def _of_sqlite(error: sqlite3.Error) -> SupervisorError | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind
    if code in _SQLITE_BUSY:
        return MetadataBusy(f"another transaction holds the metadata database: {error}")
    if code in _SQLITE_BROKEN or (code == sqlite3.SQLITE_READONLY and "query" not in str(error)):
        return MetadataUnavailable(f"the metadata database cannot be used: {error}")
    return None


def _of_postgres(error: Exception, *, disconnected: bool) -> SupervisorError | None:
    state = getattr(error, "sqlstate", None)
    text = str(error).strip().partition("\n")[0]
    if state in _POSTGRES_BUSY:
        return MetadataBusy(f"the metadata database did not take it in time: {text}")
    # Check the base classes too: a connection timeout has a class of its own.
    kinds = {kind.__name__ for kind in type(error).__mro__}
    no_answer = state is None and "OperationalError" in kinds
    if disconnected or no_answer or (state or "").startswith(_POSTGRES_BROKEN):
        return MetadataUnavailable(f"the metadata database cannot be reached: {text}")
    return None
