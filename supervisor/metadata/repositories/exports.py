"""The repository of exports: tables, their export formats, and the progress of each export."""

from sqlalchemy import Connection, RowMapping, Select, select, update

from supervisor.core.tables.exports import Export, ExportVersion
from supervisor.core.values.export_formats import ExportFormat
from supervisor.metadata.schema.rows import insert_unless_taken
from supervisor.metadata.schema.tables import exports

_AT = exports.c
_ALL = (
    select(exports)
    .where(_AT.format.in_([*ExportFormat]))  # rows of a newer release's formats are not ours
    .order_by(_AT.data_source, _AT.format)
)


class SqlExports:
    """See `ports.tables.exports.Exports`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def get(self, data_source: str, table_format: ExportFormat) -> Export | None:
        """Return one export; None: nobody ever configured it."""
        mine = _ALL.where(_AT.data_source == data_source, _AT.format == table_format)
        return next(iter(self._read(mine)), None)

    def locked(self, data_source: str, table_format: ExportFormat) -> Export | None:
        """Return one export as it stays until this transaction ends; see the port."""
        mine = _ALL.where(_AT.data_source == data_source, _AT.format == table_format)
        return next(iter(self._read(mine.with_for_update())), None)

    def of(self, data_source: str) -> list[Export]:
        """Return the exports of one table, by format, disabled exports too."""
        return self._read(_ALL.where(_AT.data_source == data_source))

    def all(self) -> list[Export]:
        """Return every export, by table and format."""
        return self._read(_ALL)

    def put(self, export: Export) -> None:
        """Insert, or replace the row of this table and format."""
        row = _row(export)
        if not insert_unless_taken(self._db, (exports, [row])):
            mine = (_AT.data_source == export.data_source, _AT.format == export.format)
            self._db.execute(update(exports).where(*mine).values(**row))

    def _read(self, query: Select[tuple[object, ...]]) -> list[Export]:
        return [_export(row) for row in self._db.execute(query).mappings()]


def _row(export: Export) -> dict[str, object]:
    return {
        "data_source": export.data_source,
        "format": export.format,
        "enabled": export.enabled,
        "sequence": export.sequence,
        "version": export.standing.version,
        "location": export.standing.location,
        "exported_at": export.exported_at,
        "problem": export.problem,
        "behind_since": export.behind_since,
    }


def _export(row: RowMapping) -> Export:
    return Export(
        data_source=row["data_source"],
        format=row["format"],
        enabled=row["enabled"],
        sequence=row["sequence"],
        standing=ExportVersion(row["version"], row["location"]),
        exported_at=row["exported_at"],
        problem=row["problem"],
        behind_since=row["behind_since"],
    )
