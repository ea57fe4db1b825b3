"""Schema migration of a database, by one process at a time.

The whole migration is one transaction, which begins with a lock.  If two processes start at once,
the second one waits and then finds the schema migrated.  Both databases roll DDL back, so a failed
migration leaves the schema as it was.

    schema of this version ──► nothing to do, and Alembic is not even loaded
    no schema, or another one ► `upgrading`
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from supervisor.database.engine import WRITES, Bounds, create_engine, optimize, sqlite_file

__all__ = ["Migrations", "UnknownRevision", "stored_revisions"]

_BOUNDS = Bounds(
    statement=timedelta(minutes=10),
    lock=timedelta(minutes=1),
    idle=timedelta(minutes=1),
    connect=timedelta(seconds=10),
    pool_size=0,
)
"""Longer than a leader's bounds: nobody works yet, and a migration may rewrite a table."""
_PACKAGE = Path(__file__).parents[1]


class UnknownRevision(Exception):
    """A newer Tidegate has migrated the database."""

    def __init__(self, revision: str) -> None:
        super().__init__(f"schema revision {revision} is unknown")
        self.revision = revision


@dataclass(frozen=True)
class Migrations:
    """The migrations of one kind of database."""

    folder: str
    """Of the scripts, below that of all of them; empty: it is that one."""
    lock: int
    """Key of a PostgreSQL advisory lock: any number that nothing else in the database uses."""

    def scripts(self) -> Path:
        """Return the folder of the scripts, in the installed package or in the repository."""
        installed = _PACKAGE / "metadata" / "migrations"
        return (installed if installed.is_dir() else _PACKAGE.parent / "alembic") / self.folder

    def newest(self) -> str:
        """Return the revision of this version: the highest number in a migration's file name."""
        files = (self.scripts() / "versions").glob("[0-9]*.py")
        return max(file.name.partition("_")[0] for file in files)

    def upgrade(self, connection: Connection) -> None:
        """Bring the database to the newest revision, in the transaction of `connection`.

        Raises:
            UnknownRevision: a newer Tidegate has migrated the database.
        """
        if stored_revisions(connection) != [self.newest()]:
            from supervisor.database.upgrading import upgrade

            upgrade(connection, self.scripts())
            optimize(connection)

    @contextmanager
    def migrating(self, url: str) -> Iterator[Connection]:
        """Open the one transaction that may change the schema; committed when its block ends."""
        _create_file(url)
        engine = create_engine(url, _BOUNDS)
        with engine.connect() as connection:
            connection.execution_options(**{WRITES: True})
            with connection.begin():  # SQLite: takes the write lock
                if engine.dialect.name == "postgresql":
                    lock = text("SELECT pg_advisory_xact_lock(:key)")
                    connection.execute(lock, {"key": self.lock})
                yield connection


def stored_revisions(connection: Connection) -> list[str]:
    """Return the stored schema revision; an empty list: the database has no table of ours yet."""
    if not inspect(connection).has_table("alembic_version"):
        return []
    return list(connection.execute(text("SELECT version_num FROM alembic_version")).scalars())


def _create_file(url: str) -> None:
    """Create a SQLite file that only its owner may read: tokens of tasks, or logs, are in it."""
    if file := sqlite_file(url):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
