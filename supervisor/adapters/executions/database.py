"""The database of executions: a file of its own, or the schema `executions`; leaders migrate it."""

from supervisor.adapters.side.database import SIDE_BOUNDS, SideDatabase, SideKind
from supervisor.adapters.side.errors import SideErrors
from supervisor.database.engine import Bounds
from supervisor.database.migrations import Migrations

__all__ = ["ExecutionDatabase", "migrate_executions"]

_KIND = SideKind(
    SideErrors("executions", "TIDEGATE_EXECUTIONS_URL", "an overlord"),
    Migrations(folder="executions", lock=7_433_283_201_986),
)


def migrate_executions(url: str) -> None:
    """Upgrade the database of executions to the newest schema; create it if need be.

    Raises:
        StoreAway: it cannot be reached, or another process held the lock for a minute.
        StoreRefuses: a newer Tidegate has migrated it, or a right is missing.
    """
    _KIND.migrate(url)


class ExecutionDatabase(SideDatabase):
    """A database of executions that somebody has migrated; it opens no connection yet."""

    def __init__(self, url: str, bounds: Bounds = SIDE_BOUNDS) -> None:
        super().__init__(_KIND, url, bounds)
