"""Exported tables as their readers see them, through the formats' own libraries."""

from contextlib import closing
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable, Table

from supervisor.core.values.export_formats import ExportFormat
from tests.supervisor.chores.exports.exports import DELTA, Harbour, Ids, ids_in
from tests.supervisor.core.snapshots import TOPIC


def rows_in(harbour: Harbour, table_format: ExportFormat) -> Ids:
    """The records that a reader finds."""
    return ids_in(_read(harbour, table_format))


def columns_of(harbour: Harbour, table_format: ExportFormat) -> dict[str, list[object]]:
    """Column -> values, as a reader finds them."""
    columns: dict[str, list[object]] = _read(harbour, table_format).to_pydict()
    return columns


def names_in(harbour: Harbour, table_format: ExportFormat) -> set[str]:
    """The files that the exported table names, below the warehouse."""
    if table_format is DELTA:
        paths = _delta(harbour).file_uris()
    else:
        paths = [task.file.file_path for task in _iceberg(harbour).scan().plan_files()]
    return {str(Path(path.removeprefix("file://")).relative_to(harbour.root)) for path in paths}


def version_of(harbour: Harbour, table_format: ExportFormat) -> int:
    """The format's own version, as it stands on disk."""
    if table_format is DELTA:
        return _delta(harbour).version()
    snapshot = _iceberg(harbour).current_snapshot()
    assert snapshot is not None
    assert snapshot.sequence_number is not None
    return snapshot.sequence_number


def _read(harbour: Harbour, table_format: ExportFormat) -> pa.Table:
    if table_format is DELTA:
        return delta_rows(str(harbour.root / TOPIC))
    return _iceberg(harbour).scan().to_arrow()


def _delta(harbour: Harbour) -> DeltaTable:
    return DeltaTable(str(harbour.root / TOPIC))


def _iceberg(harbour: Harbour) -> Table:
    with closing(SqlCatalog("tidegate", uri=harbour.catalog_url)) as catalog:
        return catalog.load_table(("tidegate", TOPIC))


def rows_at(harbour: Harbour, table_format: ExportFormat) -> Ids:
    """The records that a reader finds where our own row says, without a catalog."""
    location = str(harbour.root / harbour.row(table_format).standing.location)
    if table_format is DELTA:
        return ids_in(delta_rows(location))
    return ids_in(StaticTable.from_metadata(location).scan().to_arrow())


def delta_rows(location: str) -> pa.Table:
    """The rows of a Delta table, not through a file system of Python's (as in the snippet)."""
    files = SubTreeFileSystem(location, LocalFileSystem())
    return DeltaTable(location).to_pyarrow_table(filesystem=files)
