"""Response models of stored reports, and of the warnings and errors of stored logs."""

from pydantic import Field

from supervisor.core.reports.grave import GraveLevel
from supervisor.ports.reports.logs import GraveHit
from supervisor.ports.reports.reports import ReportLine
from tasks.contract.wire import Instant, Wire
from tasks.reporting.record import RecordOrigin, RecordType

__all__ = ["LogLineView", "LogLinesPage", "ReportView", "ReportsPage", "line_view", "report_view"]


class ReportView(Wire):
    """A stored record without its payload."""

    id: str
    """Of the record; `GET /api/v1/reports/{id}` has all of it."""
    task: str
    """The task, compaction or execution that it is about."""
    attempt: int
    type: RecordType
    origin: RecordOrigin
    status: str | None
    """How the attempt ended; null: it has not, or the record does not say."""
    supervisor: str | None
    data_source: str | None
    worker: str | None
    at: Instant
    """When its sender made it, by its clock."""
    stored_at: Instant | None
    """Null: the store does not keep it."""
    size_bytes: int | None = Field(alias="bytes")
    """Of its JSON; null: the store does not know."""
    final: bool
    """No later record of this task, attempt and type follows."""
    error: str
    """The first line of what went wrong; empty: nothing did, or the record does not say."""


class ReportsPage(Wire):
    """Reports, newest first; a page may have fewer than its `limit`, and `next` leads on."""

    reports: list[ReportView]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


class LogLineView(Wire):
    """A warning or an error of a stored log."""

    task: str
    attempt: int
    offset: int
    """Of the first byte of the line, in the log of the task."""
    at: Instant
    """The line's own time; the time of its sending, if it has none or one after that."""
    level: str
    """WARNING, ERROR or CRITICAL."""
    text: str
    """The whole line with its time, at most 1,000 characters."""
    supervisor: str | None
    data_source: str | None
    worker: str | None


class LogLinesPage(Wire):
    """Lines, newest first; a page may have fewer than its `limit`, and `next` leads on."""

    lines: list[LogLineView]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


def report_view(line: ReportLine) -> ReportView:
    """Return the response for one record."""
    return ReportView(
        id=line.record_id,
        task=line.subject,
        attempt=line.attempt,
        type=line.type,
        origin=line.origin,
        status=line.status,
        supervisor=line.supervisor,
        data_source=line.data_source,
        worker=line.worker,
        at=line.at,
        stored_at=line.stored_at,
        size_bytes=line.size_bytes,
        final=line.final,
        error=line.error,
    )


def line_view(hit: GraveHit) -> LogLineView:
    """Return the response for one line."""
    return LogLineView(
        task=hit.place.subject,
        attempt=hit.place.attempt,
        offset=hit.place.offset,
        at=hit.place.at,
        level=GraveLevel(hit.line.level).name,
        text=hit.line.text,
        supervisor=hit.supervisor,
        data_source=hit.data_source,
        worker=hit.worker,
    )
