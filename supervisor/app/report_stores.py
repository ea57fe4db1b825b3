"""The stores of reports and logs, as the settings name them; of persisters, and of who reads."""

from dataclasses import dataclass

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.logs.sql_logs import SqlLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.database.engine import sqlite_file
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportStore
from supervisor.settings.settings import Settings

__all__ = ["StoredReports", "logs_in", "reports_url", "stored_in"]


@dataclass(frozen=True)
class StoredReports:
    """What an overlord reads of the persisters' stores."""

    logs: LogStore | None
    reports: ReportStore | None


def reports_url(settings: Settings) -> str:
    """Return the URL of the database of reports."""
    if settings.reports_url is not None:
        return settings.reports_url
    file = sqlite_file(settings.metadata_url)
    # One writer at a time on SQLite: a batch of reports would make a publish wait.
    return settings.metadata_url if file is None else f"sqlite:///{file.with_name('reports.db')}"


def logs_in(settings: Settings, database: ReportDatabase, instance: str) -> LogStore:
    """Return the store of logs whose rows are in `database`; `instance` names what it writes."""
    if settings.reports_logs == "sql":
        return SqlLogStore(database)
    folder = settings.warehouse.absolute() / ".tidegate"
    return SegmentLogStore(database, folder, instance, SystemClock())


def stored_in(settings: Settings) -> StoredReports:
    """Return the stores for an overlord, which only reads; both None: nothing is stored."""
    if settings.reports == "off":
        return StoredReports(None, None)
    database = ReportDatabase(reports_url(settings))
    return StoredReports(logs_in(settings, database, "overlord"), SqlReports(database))
