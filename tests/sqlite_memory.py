"""The product's SQL store on SQLite in memory, and empty metadata files: migrated once a process.

A store in memory has one connection: a transaction inside another one, or of another thread at
the same time, is refused.  Tests of what happens side by side use a file or PostgreSQL.
"""

import sqlite3
import tempfile
import weakref
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import cast

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import StaticPool

from supervisor.database.engine import with_sqlite_rules
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore

_URL = "sqlite+pysqlite://"


@cache
def template() -> sqlite3.Connection:
    """Return a metadata database without rows, in memory; to be copied, never to be written."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "metadata.db"
        migrate(f"sqlite:///{file}")
        memory = sqlite3.connect(":memory:", check_same_thread=False)
        on_disk = sqlite3.connect(file)
        on_disk.backup(memory)
        on_disk.close()
    return memory


def empty_file(file: Path) -> Path:
    """Write a metadata database without rows to a file; return the file."""
    file.write_bytes(template().serialize())
    return file


@cache
def _dialect() -> sa.Dialect:
    """Return the dialect of every store: statements are compiled once for each dialect."""
    engine = sa.create_engine(_URL, poolclass=StaticPool)
    with engine.connect():
        pass  # the first connection completes the dialect
    engine.dispose()
    return engine.dialect


_compiled: dict[object, object] = {}
"""Statements that some store of this process has compiled."""


class SqliteInMemory(SqlStore):
    """A metadata database of its own; it goes with the store."""

    def __init__(self, lease_ttl: timedelta = timedelta(seconds=6)) -> None:
        """Begin without rows."""
        super().__init__("sqlite:////dev/null/no-file.db", lease_ttl=lease_ttl)
        self.raw = raw = sqlite3.connect(":memory:", check_same_thread=False, cached_statements=500)
        template().backup(raw)
        weakref.finalize(self, raw.close)
        dialect = _dialect()
        pool = StaticPool(lambda: cast("DBAPIConnection", raw), dialect=dialect)
        engine = sa.Engine(pool, dialect, sa.make_url(_URL))
        engine.update_execution_options(compiled_cache=_compiled)
        self._engine = self._writers = with_sqlite_rules(engine)
