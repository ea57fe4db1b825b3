"""Schema migration of the metadata database, by one process at a time.

The whole migration is one transaction, which begins with a lock.  If two overlords start at once,
the second one waits and then finds the schema migrated.  Both databases roll DDL back, so a failed
migration leaves the schema as it was.

    schema of this version ──► nothing to do, and Alembic is not even loaded
    no schema, or another one ► `upgrading`
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from supervisor.database.engine import WRITES, Bounds, create_engine, optimize, sqlite_file

_LOCK = 7_433_283_201_984
"""Key of a PostgreSQL advisory lock: any number that nothing else in this database uses."""
_BOUNDS = Bounds(
    statement=timedelta(minutes=10),
    lock=timedelta(minutes=1),
    idle=timedelta(minutes=1),
    connect=timedelta(seconds=10),
    pool_size=0,
)
"""Longer than a leader's bounds: no overlord leads yet, and a migration may rewrite a table."""


def migrate(url: str) -> None:
    """Upgrade the database to the newest schema this version knows; create it if need be.

    Raises:
        SchemaTooNew: a newer Tidegate has migrated the database.
        MetadataBusy: another process held the lock for a minute.
        MetadataUnavailable: the database cannot be reached.
    """
    with migrating(url) as connection:
        if stored_revisions(connection) != [newest()]:
            from supervisor.metadata.upgrading import upgrade

            upgrade(connection, scripts())
            optimize(connection)


@contextmanager
def migrating(url: str) -> Iterator[Connection]:
    """Open the one transaction that may change the schema; committed when its block ends."""
    _create_file(url)
    engine = create_engine(url, _BOUNDS)
    with engine.connect() as connection:
        connection.execution_options(**{WRITES: True})
        with connection.begin():  # SQLite: takes the write lock
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            yield connection


def scripts() -> Path:
    """Return the folder of the migrations, in the installed package or in the repository."""
    installed = Path(__file__).parent / "migrations"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "alembic"


def newest() -> str:
    """Return the schema revision of this version: the highest number in a migration's file name."""
    return max(file.name.partition("_")[0] for file in (scripts() / "versions").glob("[0-9]*.py"))


def stored_revisions(connection: Connection) -> list[str]:
    """Return the stored schema revision; an empty list: the database has no table of ours yet."""
    if not inspect(connection).has_table("alembic_version"):
        return []
    return list(connection.execute(text("SELECT version_num FROM alembic_version")).scalars())


def _create_file(url: str) -> None:
    """Create a SQLite file that only its owner may read, because it will hold tokens of tasks."""
    if file := sqlite_file(url):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
