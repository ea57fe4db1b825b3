"""The database of reports: a file of its own, or the schema `reports`; persisters migrate it."""

from supervisor.adapters.side.database import SIDE_BOUNDS, SideDatabase, SideKind
from supervisor.adapters.side.errors import SideErrors
from supervisor.database.engine import Bounds
from supervisor.database.migrations import Migrations

__all__ = ["ReportDatabase", "migrate_reports"]

_KIND = SideKind(
    SideErrors("reports", "TIDEGATE_REPORTS_URL", "a persister"),
    Migrations(folder="reports", lock=7_433_283_201_985),
)


def migrate_reports(url: str) -> None:
    """Upgrade the database of reports to the newest schema of this version; create it if need be.

    Raises:
        StoreAway: it cannot be reached, or another process held the lock for a minute.
        StoreRefuses: a newer Tidegate has migrated it, or a right is missing.
    """
    _KIND.migrate(url)


class ReportDatabase(SideDatabase):
    """A database of reports that somebody has migrated; it opens no connection yet."""

    def __init__(self, url: str, bounds: Bounds = SIDE_BOUNDS) -> None:
        super().__init__(_KIND, url, bounds)
