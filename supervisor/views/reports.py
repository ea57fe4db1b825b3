"""Response models of stored reports, of grave lines of stored logs, and of dead letters."""

from pydantic import Field

from supervisor.core.reports.grave import GraveLevel
from supervisor.ports.reports.logs import GraveHit
from supervisor.ports.reports.reports import ReportLine
from tasks.contract.wire import Instant, Wire
from tasks.reporting.record import RecordOrigin, RecordType

__all__ = ["HandledView", "LetterPageView", "LetterView", "LogLineView", "LogLinesPage"]
__all__ += ["ReportView", "ReportsPage", "line_view", "report_view"]


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


class HandledView(Wire):
    """What was last done with a letter."""

    verb: str
    """replay or drop."""
    outcome: str
    """stored, conflict, mismatch, skipped, rejected, or dropped."""
    detail: str
    """Why a replay was refused; empty: it was not."""
    by: str
    reason: str
    at: Instant


class LetterView(Wire):
    """A dead letter."""

    partition: int
    offset: int
    at: Instant | None
    """When it was kept; null: that is not known."""
    reason: str
    """Why it could not be stored."""
    topic: str
    """Where it was read; `direct`: it came by HTTP."""
    topic_partition: int
    topic_offset: int
    key: str | None
    size_bytes: int = Field(alias="bytes")
    sha256: str
    """Of all its bytes; a verb may name it, and then changes no other letter."""
    body: str
    """Its beginning; bytes that are no text are escapes."""
    cut: bool
    """There is more than `body` shows."""
    handled: HandledView | None
    """Null: nobody has done anything with it."""

    @property
    def origin(self) -> str:
        """Where it was read, as people write it."""
        if self.topic_partition < 0:
            return self.topic
        return f"{self.topic}[{self.topic_partition}]@{self.topic_offset}"


class LetterPageView(Wire):
    """Dead letters, the newest first."""

    letters: list[LetterView]
    next: str | None
    """The `after` of the next page; null: there is none."""
    persister: str = ""
    """The address of the persister that has answered; empty: it was asked without an overlord."""


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
