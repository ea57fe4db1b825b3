"""Report stores of each kind, and the records that they get."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import JsonValue

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.files import FileReports
from supervisor.adapters.reports.sql import SqlReports
from supervisor.database.engine import Bounds
from supervisor.ports.reports.reports import ReportStore
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
RESULT = RecordType.TASK_RESULT
HASTY = Bounds(SECOND, SECOND, SECOND, SECOND, pool_size=2)
"""Waits so short that an outage ends within a test."""


def report(
    subject: str = "t1",
    at: datetime = NOON,
    *,
    kind: RecordType = RESULT,
    seq: int = 0,
    attempt: int = 1,
    worker: str | None = None,
    supervisor: str | None = None,
    data_source: str | None = None,
    status: str | None = None,
    payload: Mapping[str, JsonValue] | None = None,
) -> ReportRecord:
    """Return a record with its own id."""
    return ReportRecord(
        type=kind,
        record_id=record_id_of(subject, attempt, kind, seq),
        subject=subject,
        attempt=attempt,
        origin=RecordOrigin.STREAM,
        worker=worker,
        supervisor=supervisor,
        data_source=data_source,
        status=status,
        at=at,
        seq=seq,
        payload=dict(payload or {}),
    )


def opener(place: str) -> Callable[[], ReportStore]:
    """Return what opens the store at a place, as another process would: a URL, or a folder."""
    if "://" in place:
        return lambda: SqlReports(ReportDatabase(place))
    return lambda: FileReports(Path(place))


def subjects(records: Sequence[ReportRecord]) -> list[str]:
    """Return what records are about, in their order."""
    return [record.subject for record in records]
