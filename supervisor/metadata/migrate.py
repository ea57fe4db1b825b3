"""Schema migration of the metadata database, by one process at a time: see `Migrations`."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from sqlalchemy import Connection

from supervisor.core.values.errors import SchemaTooNew
from supervisor.database.migrations import Migrations, UnknownRevision, stored_revisions

__all__ = ["migrate", "migrating", "newest", "scripts", "stored_revisions"]

_MIGRATIONS = Migrations(folder="", lock=7_433_283_201_984)


def migrate(url: str) -> None:
    """Upgrade the database to the newest schema this version knows; create it if need be.

    Raises:
        SchemaTooNew: a newer Tidegate has migrated the database.
        MetadataBusy: another process held the lock for a minute.
        MetadataUnavailable: the database cannot be reached.
    """
    with migrating(url) as connection:
        try:
            _MIGRATIONS.upgrade(connection)
        except UnknownRevision as error:
            raise SchemaTooNew(
                f"the metadata database has schema revision {error.revision}, which Tidegate "
                f"{version('tidegate')} does not know: start the version that migrated it, "
                "or a newer one; to go back to this version, stop every overlord and run, with the "
                f"version that migrated it, `tidegate metadata downgrade --to {newest()}`"
            ) from error


@contextmanager
def migrating(url: str) -> Iterator[Connection]:
    """Open the one transaction that may change the schema; committed when its block ends."""
    with _MIGRATIONS.migrating(url) as connection:
        yield connection


def scripts() -> Path:
    """Return the folder of the migrations, in the installed package or in the repository."""
    return _MIGRATIONS.scripts()


def newest() -> str:
    """Return the schema revision of this version: the highest number in a migration's file name."""
    return _MIGRATIONS.newest()
