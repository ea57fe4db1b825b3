"""Ports of table exports: the repository of exports, and the table formats on disk.

open ─► what it holds now ─► (read the published list) ─► commit, against what was opened

A commit succeeds only if nobody has committed since `open`.  The list of published files is read in
between, so it is never older than a list that was exported before.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from supervisor.core.tables.exports import Export, ExportChange, ExportedFile, ExportVersion
from supervisor.core.values.export_formats import ExportFormat


class Exports(Protocol):
    """The exports of all tables, with the progress of each export."""

    def get(self, data_source: str, table_format: ExportFormat) -> Export | None:
        """Return one export; None: nobody ever configured it."""
        ...

    def locked(self, data_source: str, table_format: ExportFormat) -> Export | None:
        """Return as `get`, of a leader's transaction: nobody else changes the row until it ends.

        Read it like this to write it: else what another thread has written meanwhile is lost.
        """
        ...

    def of(self, data_source: str) -> list[Export]:
        """Return the exports of one table, by format, disabled exports too."""
        ...

    def all(self) -> list[Export]:
        """Return every export, by table and format."""
        ...

    def put(self, export: Export) -> None:
        """Insert, or replace the row of this table and format."""
        ...


class OpenTable(Protocol):
    """A snapshot of one exported table, as it was opened."""

    @property
    def held(self) -> Mapping[str, int]:
        """Path of each file below the table's folder -> its size in bytes; no table: empty."""
        ...

    @property
    def standing(self) -> ExportVersion:
        """Location and version of the exported table."""
        ...

    def commit(self, change: ExportChange, sequence: int, now: datetime) -> ExportVersion:
        """Add and remove files in one commit; return location and version of the table after it.

        New columns are added, and rows of older files have null there.  For Delta, new columns are
        a commit of their own before.  If a column has another type in the added files, the column
        gets the new type, provided that no remaining file has the old one.  A path that is both
        added and removed stays, with its new size.

        Raises:
            NotExportable: the files do not fit into one schema; nothing was committed.
            ExportUnavailable: the commit failed, or its outcome is unknown: open the table again.
        """
        ...


class Copies(Protocol):
    """Copies of published files, rewritten with the present column types of their table."""

    def size_of(self, data_source: str, file: ExportedFile) -> int | None:
        """Return the size of a copy in bytes; None: there is no copy yet.

        Raises:
            ExportUnavailable: the copy cannot be inspected.
        """
        ...

    def make(self, data_source: str, file: ExportedFile) -> int:
        """Write a copy durably and atomically, also over an older copy; return its size in bytes.

        Raises:
            ExportUnavailable: the copy was not written.
        """
        ...


class TableFormat(Protocol):
    """One table format over the files of a warehouse."""

    def open(self, data_source: str) -> OpenTable:
        """Open the exported table of a data source, whether the table exists or not.

        Raises:
            ExportUnavailable: the table cannot be read.
        """
        ...
