"""The database of reports: opening, migrating, and the translation of its errors.

    SQLite       a file of its own
    PostgreSQL   the schema `reports` of any database, as the search path of each connection

One process migrates it, by `migrate_reports`; all others open it.  The first use of a database
that is open checks its schema, and one that is not of this release's is refused until it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import version

from sqlalchemy import Connection, Engine, text
from sqlalchemy.engine import make_url

from supervisor.adapters.reports.errors import translated
from supervisor.database.engine import WRITES, Bounds, create_engine, sqlite_file
from supervisor.database.migrations import Migrations, UnknownRevision, stored_revisions
from supervisor.ports.store_problems import StoreMissing, StoreRefuses

__all__ = ["ReportDatabase", "migrate_reports"]

_SCHEMA = "reports"
_MIGRATIONS = Migrations(folder="reports", lock=7_433_283_201_985)
_BOUNDS = Bounds(
    statement=timedelta(seconds=30),
    lock=timedelta(seconds=10),
    idle=timedelta(seconds=30),
    connect=timedelta(seconds=5),
    pool_size=8,
)
"""Nobody waits for a report, so these are longer than a leader's."""


def migrate_reports(url: str) -> None:
    """Upgrade the database of reports to the newest schema of this version; create it if need be.

    Raises:
        StoreAway: it cannot be reached, or another process held the lock for a minute.
        StoreRefuses: a newer Tidegate has migrated it, or a right is missing.
    """
    with translated(), _MIGRATIONS.migrating(_with_schema(url)) as connection:
        if connection.dialect.name == "postgresql":
            _create_schema(connection)
        try:
            _MIGRATIONS.upgrade(connection)
        except UnknownRevision as error:
            raise StoreRefuses(_newer(error.revision)) from error


class ReportDatabase:
    """A database of reports that somebody has migrated; it opens no connection yet.

    Each use raises `StoreAway`, `StoreRefuses` and, where something is written, `ContentRefused`.
    """

    def __init__(self, url: str, bounds: Bounds = _BOUNDS) -> None:
        self._engine: Engine = create_engine(_with_schema(url), bounds)
        self._file = sqlite_file(url)
        self._fits = False

    @property
    def on_sqlite(self) -> bool:
        """Whether it is a SQLite file; otherwise it is on PostgreSQL."""
        return self._file is not None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that only reads."""
        with self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes: committed, and on disk, when its block ends."""
        with self._transaction(writes=True) as connection:
            yield connection

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        with translated():
            if self._file is not None and not self._fits and not self._file.exists():
                raise StoreMissing(_MISSING)  # to connect would create an empty file
            with self._engine.connect() as connection:
                connection.execution_options(**{WRITES: writes})
                with connection.begin():
                    if not self._fits:
                        _check_schema(connection)
                        self._fits = True
                    yield connection


_MISSING = (
    "the database of reports has no schema yet: start a persister with this TIDEGATE_REPORTS_URL, "
    "which creates it"
)


def _check_schema(connection: Connection) -> None:
    stored = stored_revisions(connection)
    newest = _MIGRATIONS.newest()
    if not stored:
        raise StoreMissing(_MISSING)
    if max(stored) > newest:
        raise StoreRefuses(_newer(max(stored)))
    if stored != [newest]:
        raise StoreRefuses(
            f"the database of reports has schema revision {max(stored)}, and this release needs "
            f"{newest}: start a persister of this release, which upgrades it"
        )


def _newer(revision: str) -> str:
    return (
        f"the database of reports has schema revision {revision}, which Tidegate "
        f"{version('tidegate')} does not know: start the version that migrated it, or a newer one, "
        "or set TIDEGATE_REPORTS_URL to another database"
    )


def _with_schema(url: str) -> str:
    """Return the URL with the search path of PostgreSQL's connections, password included."""
    if sqlite_file(url) is not None:
        return url
    parsed = make_url(url)
    given = parsed.query.get("options", "")
    options = [given] if isinstance(given, str) else list(given)
    joined = " ".join([*options, f"-c search_path={_SCHEMA}"]).strip()
    return parsed.update_query_dict({"options": joined}).render_as_string(hide_password=False)


def _create_schema(connection: Connection) -> None:
    """Create the schema, unless somebody with more rights has: then no right is needed for it."""
    known = text("SELECT 1 FROM pg_namespace WHERE nspname = :name")
    if connection.execute(known, {"name": _SCHEMA}).first() is None:
        connection.execute(text(f"CREATE SCHEMA {_SCHEMA}"))
