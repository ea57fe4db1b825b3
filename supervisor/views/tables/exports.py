"""Response models of exported tables: state, lag, and code snippets for readers."""

from datetime import datetime
from pathlib import PurePosixPath

from supervisor.core.queue.events import QueueHealth
from supervisor.core.tables.exports import (
    Export,
    ExportState,
    Waiting,
    lag_of,
    queue_of,
    state_of,
)
from supervisor.core.tables.snippets import Reader
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Transaction
from tasks.contract.wire import Instant, Wire


class ExportView(Wire):
    """One table in one format."""

    data_source: str
    format: ExportFormat
    state: ExportState
    lag_seconds: float
    """Age of the oldest change that is not exported; 0: all changes are."""
    sequence: int
    """Sequence of the published list that was exported last; it grows with each change."""
    version: int | None
    """Version in the format's own numbering; null: nothing was ever published."""
    location: str | None
    """Absolute path of what a reader opens: Delta's folder, Iceberg's newest metadata file."""
    exported_at: Instant | None
    """When the exported table was last equal to the table."""
    problem: str
    """The reason why the export does not follow the table; empty: there is none."""


class ExportList(Wire):
    """Exports, by table and format; those that are switched off too."""

    exports: list[ExportView]


class Snippet(Wire):
    """Python that reads exactly the published rows of a table into `rows`."""

    reader: Reader
    code: str


class Snippets(Wire):
    """One per reader; readers of a format that the table is not exported in are left out."""

    data_source: str
    snippets: list[Snippet]


def export_views(
    tx: Transaction, data_source: str | None, warehouse: str, now: datetime
) -> list[ExportView]:
    """Return the responses for the exports of one table, or of all tables (None)."""
    found = tx.exports.all() if data_source is None else tx.exports.of(data_source)
    return [_view(tx, export, warehouse, now) for export in found]


def _view(tx: Transaction, export: Export, warehouse: str, now: datetime) -> ExportView:
    waiting = _waiting(tx, export)
    location = export.standing.location
    return ExportView(
        data_source=export.data_source,
        format=export.format,
        state=state_of(export, waiting),
        lag_seconds=lag_of(export, waiting.since, now).total_seconds(),
        sequence=export.sequence,
        version=export.standing.version,
        location=str(PurePosixPath(warehouse) / location) if location else None,
        exported_at=export.exported_at,
        problem=export.problem or waiting.error,
    )


def _waiting(tx: Transaction, export: Export) -> Waiting:
    row = tx.events.find(queue_of(export.data_source, export.format))
    if row is None:
        return Waiting()
    if row.state is QueueHealth.DEAD:
        return Waiting(error=f"its event queue is dead: {row.dead_why}")
    first = tx.events.read(row.id, row.processed_seq, 1)
    since = first[0].enqueued_at if first else None
    return Waiting(since, row.failed_iterations, row.last_error if row.failed_iterations else "")
