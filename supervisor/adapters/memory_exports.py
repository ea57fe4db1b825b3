"""Which tables are exported, in memory."""

from supervisor.adapters.memory_rows import Tables
from supervisor.core.exports import Export
from supervisor.core.spec_exports import ExportFormat


class MemoryExports:
    """See `ports_exports.Exports`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.exports

    def get(self, data_source: str, table_format: ExportFormat) -> Export | None:
        """Return one; None: it was never asked for."""
        return self._rows.get_row((data_source, table_format))

    def of(self, data_source: str) -> list[Export]:
        """Return those of one table, by format; those that are switched off too."""
        return [row for row in self.all() if row.data_source == data_source]

    def all(self) -> list[Export]:
        """Return every one, by table and format."""
        return [self._rows[key] for key in sorted(self._rows)]

    def put(self, export: Export) -> None:
        """Insert, or replace the row of this table and format."""
        self._rows.put((export.data_source, export.format), export)
