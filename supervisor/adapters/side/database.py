"""A database beside the metadata: opening, migrating, and the translation of its errors.

    SQLite       a file of its own
    PostgreSQL   a schema of any database, as the search path of each connection

One process migrates it; all others open it.  The first use of a database that is open checks its
schema, and one that is not of this release's is refused until it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version

from sqlalchemy import Connection, Engine, text
from sqlalchemy.engine import make_url

from supervisor.adapters.side.errors import SideErrors
from supervisor.database.engine import WRITES, Bounds, create_engine, sqlite_file
from supervisor.database.migrations import Migrations, UnknownRevision, stored_revisions
from supervisor.ports.store_problems import StoreMissing, StoreRefuses

__all__ = ["SIDE_BOUNDS", "SideDatabase", "SideKind"]

SIDE_BOUNDS = Bounds(
    statement=timedelta(seconds=30),
    lock=timedelta(seconds=10),
    idle=timedelta(seconds=30),
    connect=timedelta(seconds=5),
    pool_size=8,
)
"""No leader waits for it, so these are longer than a leader's."""


@dataclass(frozen=True)
class SideKind:
    """One kind of database: its words and its migrations."""

    errors: SideErrors
    migrations: Migrations

    def migrate(self, url: str) -> None:
        """Upgrade a database to the newest schema of this version; create it if need be.

        Raises:
            StoreAway: it cannot be reached, or another process held the lock for a minute.
            StoreRefuses: a newer Tidegate has migrated it, or a right is missing.
        """
        opened = self.migrations.migrating(self.with_schema(url))
        with self.errors.translated(), opened as connection:
            if connection.dialect.name == "postgresql":
                self._create_schema(connection)
            try:
                self.migrations.upgrade(connection)
            except UnknownRevision as error:
                raise StoreRefuses(self._newer(error.revision)) from error

    def check(self, connection: Connection) -> None:
        """Refuse a database whose schema is not of this release.

        Raises:
            StoreMissing, StoreRefuses: with what to do.
        """
        stored = stored_revisions(connection)
        newest = self.migrations.newest()
        if not stored:
            raise StoreMissing(self.missing)
        if max(stored) > newest:
            raise StoreRefuses(self._newer(max(stored)))
        if stored != [newest]:
            raise StoreRefuses(
                f"{self.errors.words} has schema revision {max(stored)}, and this release needs "
                f"{newest}: start {self.errors.starter} of this release, which upgrades it"
            )

    @property
    def missing(self) -> str:
        """What to do where there is none."""
        return (
            f"{self.errors.words} has no schema yet: start {self.errors.starter} with this "
            f"{self.errors.setting}, which creates it"
        )

    def with_schema(self, url: str) -> str:
        """Return the URL with the search path of PostgreSQL's connections, password included."""
        if sqlite_file(url) is not None:
            return url
        parsed = make_url(url)
        given = parsed.query.get("options", "")
        options = [given] if isinstance(given, str) else list(given)
        joined = " ".join([*options, f"-c search_path={self.errors.name}"]).strip()
        return parsed.update_query_dict({"options": joined}).render_as_string(hide_password=False)

    def _newer(self, revision: str) -> str:
        return (
            f"{self.errors.words} has schema revision {revision}, which Tidegate "
            f"{version('tidegate')} does not know: start the version that migrated it, or a newer "
            f"one, or set {self.errors.setting} to another database"
        )

    def _create_schema(self, connection: Connection) -> None:
        """Create the schema, unless somebody with more rights has: then no right is needed."""
        known = text("SELECT 1 FROM pg_namespace WHERE nspname = :name")
        if connection.execute(known, {"name": self.errors.name}).first() is None:
            connection.execute(text(f"CREATE SCHEMA {self.errors.name}"))


class SideDatabase:
    """A database that somebody has migrated; it opens no connection yet.

    Each use raises `StoreAway`, `StoreRefuses` and, where something is written, `ContentRefused`.
    """

    def __init__(self, kind: SideKind, url: str, bounds: Bounds = SIDE_BOUNDS) -> None:
        self._kind = kind
        self._engine: Engine = create_engine(kind.with_schema(url), bounds)
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
        with self._kind.errors.translated():
            if self._file is not None and not self._fits and not self._file.exists():
                raise StoreMissing(self._kind.missing)  # to connect would create an empty file
            with self._engine.connect() as connection:
                connection.execution_options(**{WRITES: writes})
                with connection.begin():
                    if not self._fits:
                        self._kind.check(connection)
                        self._fits = True
                    yield connection
