"""Bring a metadata database to the schema of this version, one process at a time.

The whole migration is one transaction, which begins with a lock: of two overlords that start at
once the second waits, and finds the work done.  Both databases roll DDL back, so that a migration
that fails leaves the schema as it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from supervisor.core.errors import SchemaTooNew
from supervisor.metadata.engine import WRITES, Bounds, create_engine, sqlite_file

_LOCK = 7_433_283_201_984
"""Of PostgreSQL's advisory locks; any number that nobody else uses in this database."""
_BOUNDS = Bounds(
    statement=timedelta(minutes=10),
    lock=timedelta(minutes=1),
    idle=timedelta(minutes=1),
    connect=timedelta(seconds=10),
    pool_size=0,
)
"""Wider than a leader's: nobody leads yet, and a migration may rewrite a table."""


def migrate(url: str) -> None:
    """Upgrade the database to the newest schema this version knows; create it if need be.

    Raises:
        SchemaTooNew: a newer Tidegate has migrated it.
        MetadataBusy: another process held the lock for a minute.
        MetadataUnavailable: the database cannot be reached.
    """
    with migrating(url) as connection:
        config = _config()
        _refuse_newer(connection, config)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


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
    """Return the folder of the migrations: inside the installed package, or of the repository."""
    installed = Path(__file__).parent / "migrations"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "alembic"


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    return config


def _create_file(url: str) -> None:
    """Create a SQLite file that only its owner may read: it holds the tokens of tasks."""
    if file := sqlite_file(url):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)


def _refuse_newer(connection: Connection, config: Config) -> None:
    known = ScriptDirectory.from_config(config)
    for revision in MigrationContext.configure(connection).get_current_heads():
        try:
            known.get_revision(revision)
        except CommandError as error:
            raise SchemaTooNew(
                f"the metadata database has schema revision {revision}, which Tidegate "
                f"{version('tidegate')} does not know: start the version that migrated it, "
                "or a newer one"
            ) from error
