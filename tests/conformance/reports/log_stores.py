"""Log stores of each kind, opened by as many processes as a test likes."""

from pathlib import Path

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.logs.sql_logs import SqlLogStore
from supervisor.ports.reports.logs import LogStore
from tests.conformance.reports.log_chunks import NOON

ON_SQLITE = ("memory", "segments-sqlite", "sql-sqlite")
ON_POSTGRES = ("segments-postgresql", "sql-postgresql")
"""Kinds of `LogStores`."""


class LogStores:
    """One store, opened by as many processes as a test likes."""

    def __init__(self, kind: str, url: str, folder: Path) -> None:
        self.clock = ManualClock(NOON)
        self.shares_files = kind.startswith("segments")
        """Chunks of the same hour are in the same file."""
        self._kind = kind
        self._url = url
        self._folder = folder
        self._memory = MemoryLogStore()
        self._open: list[LogStore | ReportDatabase] = []

    def open(self) -> LogStore:
        """The store, as another process has it."""
        if self._kind == "memory":
            return self._memory
        database = ReportDatabase(self._url)
        self._open.append(database)
        store: LogStore = SqlLogStore(database)
        if self.shares_files:
            store = SegmentLogStore(database, self._folder, "p", self.clock)
        self._open.append(store)
        return store

    def close(self) -> None:
        """Close what was opened."""
        for each in reversed(self._open):
            each.close()
