"""Queries about tables: their names, files and exports; reads only."""

from dataclasses import dataclass

from supervisor.chores.file_lists import listed
from supervisor.control.declared_types import declared_in
from supervisor.control.leadership import Leadership
from supervisor.control.tables import known_tables, require_table
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.services.tables.warehouse import warehouse_files
from supervisor.services.tasks.workers import worker_urls
from supervisor.views.rows import live_in
from supervisor.views.tables.exports import ExportView, export_views
from supervisor.views.tables.files import (
    WITHIN_S,
    ColumnSets,
    DataSources,
    Journals,
    TableFiles,
    journaled,
    live_ranges,
    published,
)
from supervisor.views.tables.warehouse import WarehouseFiles
from tasks.rows.discovery import common


@dataclass(frozen=True)
class TableQueries:
    """Answers queries about tables; one instance per process."""

    store: Store
    registry: WorkerRegistry
    leadership: Leadership
    clock: Clock
    warehouse: str
    """The absolute path of the warehouse."""
    journals: Journals

    def data_sources(self) -> DataSources:
        """Return every known table: tables that are fed, and tables with published segments."""
        with self.store.reading() as tx:
            return DataSources(data_sources=sorted(known_tables(tx)))

    def files(self, data_source: str, *, with_journaled: bool) -> TableFiles:
        """Return the files of a table; the journaled files come from the workers' reports.

        Raises:
            DataSourceNotFound: no supervisor feeds the table, and none ever did.
            LeaseLost: journaled files are requested, and this overlord does not lead.
        """
        until = self.clock.monotonic() + WITHIN_S
        if with_journaled:
            self.leadership.term()
        with self.store.reading() as tx:  # one view: no range is published and live
            keys = tx.segments.keys(data_source, used=True)
            if not keys:
                require_table(tx, data_source)
            live, unread = live_in(tx, data_source)
            active = tx.tasks.active()
            urls = worker_urls(tx)
        sets = ColumnSets()
        files = published(listed(self.store, keys), self.warehouse, sets)
        missing: list[str] = []
        if with_journaled:
            ranges = live_ranges(live, active, self.registry.views(), urls)
            unpublished, missing = journaled(
                ranges, self.journals, self.warehouse, sets, lambda: until - self.clock.monotonic()
            )
            files += unpublished
            missing += unread
        declared = declared_in(self.store, sets.all(), {file.supervisor_id for file in files})
        return TableFiles(
            data_source=data_source,
            warehouse=self.warehouse,
            columns=list(common(sets.all(), declared)),
            column_sets=sets.all(),
            files=files,
            missing=missing,
        )

    def exports(self, data_source: str | None = None) -> list[ExportView]:
        """Return the states of the exports of one table, or of all.

        Raises:
            DataSourceNotFound: no supervisor feeds the table, and none ever did.
        """
        with self.store.reading() as tx:
            if data_source is not None:
                require_table(tx, data_source)
            return export_views(tx, data_source, self.warehouse, self.clock.now())

    def warehouse_files(self) -> WarehouseFiles:
        """Return the files and folders that may be in the warehouse, of all tables."""
        return warehouse_files(self.store, self.warehouse)
