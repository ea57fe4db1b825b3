"""Routes of stored reports, and of warnings and errors in stored logs."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.http.access import LISTED, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.windows import From, To, check_times
from supervisor.api.routes.cluster.audit import Limit
from supervisor.core.reports.grave import GraveLevel
from supervisor.core.values.page_cursors import KEYED_LENGTH_MAX
from supervisor.core.values.permissions import Permission
from supervisor.ports.reports.logs import LogQuery
from supervisor.ports.reports.reports import ReportQuery
from supervisor.views.reports import LogLinesPage, ReportsPage
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord

router = APIRouter(
    prefix="/api/v1",
    tags=["history"],
    responses={404: {"description": "No persister stores anything here"}},
)


class ListedType(StrEnum):
    """The types of records that the list has; events and audit entries have lists of their own."""

    TASK_RESULT = "task_result"
    TASK_REPORT = "task_report"
    PROGRESS = "progress"
    COMBINED = "combined"


class ReportOutcome(StrEnum):
    """How an attempt ended."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


class LineLevel(StrEnum):
    """How grave a line is; each level has the graver ones with it."""

    WARNING = "WARNING"
    ERROR = "ERROR"
    CRITICAL = "CRITICAL"


_NAME_MAX = 256
Name = Annotated[
    str | None,
    Query(min_length=1, max_length=_NAME_MAX),
]
OfTable = Annotated[
    str | None,
    Query(
        alias="dataSource",
        min_length=1,
        max_length=_NAME_MAX,
        description="Of this table.",
    ),
]
Attempt = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="Of this attempt.")]
LineText = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        description="The line holds this text, in upper or lower case.",
    ),
]
Cursor = Annotated[
    str | None,
    Query(
        description="The `next` of the page before.",
        json_schema_extra={"pattern": f"^[A-Za-z0-9_-]{{1,{KEYED_LENGTH_MAX}}}$"},
    ),
]


@router.get("/reports", dependencies=[needs(Permission.READ, LISTED)])
def list_reports(
    parts: Parts,
    asking: Asking,
    *,
    supervisor: Name = None,
    data_source: OfTable = None,
    worker: Name = None,
    task: Name = None,
    attempt: Attempt = None,
    status: ReportOutcome | None = None,
    type: ListedType | None = None,  # noqa: A002 -- the record's word
    origin: RecordOrigin | None = None,
    begin: From = None,
    end: To = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> ReportsPage:
    """List what workers have reported of tasks and what a persister has stored, newest first.

    A page may have less than `limit`, and still name a next page.
    """
    check_times(begin=begin, end=end)
    wanted = ReportQuery(
        types=frozenset() if type is None else frozenset({RecordType(type)}),
        subject=task,
        attempt=attempt,
        supervisor=supervisor,
        data_source=data_source,
        worker=worker,
        status=status,
        origin=origin,
        since=begin,
        until=end,
    )
    return parts.stored.reports(wanted, limit, cursor, asking)


@router.get("/reports/{record_id}", dependencies=[needs(Permission.READ, LISTED)])
def get_report(record_id: str, parts: Parts, asking: Asking) -> ReportRecord:
    """Return one stored report with its payload, as it was sent."""
    return parts.stored.report(record_id, asking)


@router.get("/logs", dependencies=[needs(Permission.READ, LISTED)])
def list_log_lines(
    parts: Parts,
    asking: Asking,
    *,
    supervisor: Name = None,
    data_source: OfTable = None,
    worker: Name = None,
    task: Name = None,
    level: LineLevel | None = None,
    text: LineText = None,
    begin: From = None,
    end: To = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> LogLinesPage:
    """List warnings and errors of the stored logs of all tasks, newest first.

    A page may have less than `limit`, and still name a next page.
    """
    check_times(begin=begin, end=end)
    wanted = LogQuery(
        level=None if level is None else GraveLevel[level],
        text=text,
        subject=task,
        supervisor=supervisor,
        data_source=data_source,
        worker=worker,
        since=begin,
        until=end,
    )
    return parts.stored.lines(wanted, limit, cursor, asking)
