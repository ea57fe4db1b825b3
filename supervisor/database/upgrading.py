"""The Alembic upgrade: runs the migrations that a database lacks.

This module is imported only if there is a migration to run, because Alembic is a good part of all
code that a process would load.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from supervisor.database.migrations import UnknownRevision

__all__ = ["upgrade"]


def upgrade(connection: Connection, scripts: Path) -> None:
    """Bring the database to the newest of the `scripts`, in the transaction of `connection`.

    Raises:
        UnknownRevision: a newer Tidegate has migrated the database.
    """
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    _refuse_newer(connection, config)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _refuse_newer(connection: Connection, config: Config) -> None:
    known = ScriptDirectory.from_config(config)
    for revision in MigrationContext.configure(connection).get_current_heads():
        try:
            known.get_revision(revision)
        except CommandError as error:
            raise UnknownRevision(revision) from error
