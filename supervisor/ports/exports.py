"""What exporting needs: the rows that say what is exported, and the formats as they stand on disk.

open ─► what it holds now ─► (read the published list) ─► commit, against what was opened

A commit goes through only if nobody has committed since `open`: so the list, which is read in
between, is never older than one that was exported before.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from supervisor.core.tables.exports import Change, Export, ExportedFile, ExportVersion
from supervisor.core.values.export_formats import ExportFormat


class Exports(Protocol):
    """Which tables are exported, and how far each export is."""

    def get(self, data_source: str, table_format: ExportFormat) -> Export | None:
        """Return one; None: it was never asked for."""
        ...

    def of(self, data_source: str) -> list[Export]:
        """Return those of one table, by format; those that are switched off too."""
        ...

    def all(self) -> list[Export]:
        """Return every one, by table and format."""
        ...

    def put(self, export: Export) -> None:
        """Insert, or replace the row of this table and format."""
        ...


class OpenTable(Protocol):
    """One exported table, as it was when it was opened."""

    @property
    def held(self) -> Mapping[str, int]:
        """Path of each file, below the table's folder -> its size; none without a table."""
        ...

    @property
    def standing(self) -> ExportVersion:
        """Where it is, and at which version."""
        ...

    def commit(self, change: Change, sequence: int, now: datetime) -> ExportVersion:
        """Add and take out files, all at once; return how the table stands then.

        Columns that are new are added; rows of older files have null there.  Delta gets them in a
        commit of their own, before.  A column that has another type in the files to add gets that
        one, if no file stays that has it as it was.  A path in both stays, with its new size.

        Raises:
            NotExportable: the files do not fit into one schema; nothing was committed.
            ExportUnavailable: it was not committed, or nobody knows: open it again.
        """
        ...


class Copies(Protocol):
    """Copies of published files with the types that their table has by now."""

    def size_of(self, data_source: str, file: ExportedFile) -> int | None:
        """Return how large a copy is, in bytes; None: there is none yet.

        Raises:
            ExportUnavailable: it cannot be looked at.
        """
        ...

    def make(self, data_source: str, file: ExportedFile) -> int:
        """Write a copy durably, whole or not at all, also over another; return how large it is.

        Raises:
            ExportUnavailable: there is no copy.
        """
        ...


class TableFormat(Protocol):
    """One table format over the files of a warehouse."""

    def open(self, data_source: str) -> OpenTable:
        """Look at the exported table of a data source, whether it is there or not.

        Raises:
            ExportUnavailable: it cannot be read.
        """
        ...
