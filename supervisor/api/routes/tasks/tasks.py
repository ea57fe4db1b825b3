"""Druid's task routes that read tasks.  Source: Druid's OverlordResource."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse, Response

from supervisor.api.http.access import LISTED, TASK, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.core.values.errors import (
    ExecutionNotFound,
    FieldError,
    InvalidRequest,
    TaskNotFound,
)
from supervisor.core.values.intervals import FORM, PATTERN, Interval, parse_interval
from supervisor.core.values.permissions import Permission
from supervisor.ports.workers.task_logs import LogPart
from supervisor.services.tasks.submit_task import SubmittedTasks
from supervisor.views.tasks import TASK_TYPE, TaskFilter, TaskRow, TaskStatusView

router = APIRouter(prefix="/druid/indexer/v1", tags=["tasks"])

ROWS_DEFAULT, ROWS_MAX = 1_000, 10_000
OFFSET_MAX = 2**53
Most = Annotated[int, Query(ge=1, le=ROWS_MAX, description="At most so many rows.")]
Type = Annotated[str | None, Query(description="Of another type than index_kafka there is none.")]
Created = Annotated[
    str | None,
    Query(
        alias="createdTimeInterval",
        description=f"Created within: {FORM}; `_` does for `/`.",
        examples=["2026-01-01_2026-01-02"],
        json_schema_extra={"pattern": PATTERN.replace("/", "[_/]")},
    ),
]
Offset = Annotated[
    int,
    Query(
        ge=-OFFSET_MAX,
        le=OFFSET_MAX,
        description="From this byte on; a negative one counts from the end.",
    ),
]


@router.get("/tasks", dependencies=[needs(Permission.READ, LISTED)])
def list_tasks(
    parts: Parts,
    asking: Asking,
    state: TaskFilter | None = None,
    datasource: str | None = None,
    *,
    created: Created = None,
    max: Most = ROWS_DEFAULT,  # noqa: A002 -- Druid's name
    type: Type = None,  # noqa: A002 -- Druid's name
) -> list[TaskRow]:
    """List tasks, newest first."""
    within = None if created is None else interval_of(created, "createdTimeInterval")
    if type not in {None, TASK_TYPE}:
        return []
    if asking.reads_all:
        return parts.tasks.tasks(state, datasource, max, within)
    # the tasks that the caller may read, among the newest
    found = parts.tasks.tasks(state, datasource, ROWS_MAX, within)
    return [row for row in found if asking.may_read(row.data_source)][:max]


def interval_of(text: str, name: str) -> Interval:
    """Parse an interval of a query in the form of Druid's clients, `a_b` or `a/b`.

    Raises:
        InvalidRequest: the text is not an interval.
    """
    try:
        return parse_interval(text.replace("_", "/"))
    except ValueError as error:
        raise InvalidRequest([FieldError(f"/query/{name}", str(error), FORM)]) from None


@router.get("/runningTasks", dependencies=[needs(Permission.READ, LISTED)])
def list_running(
    parts: Parts,
    asking: Asking,
    datasource: str | None = None,
    *,
    max: Most = ROWS_DEFAULT,  # noqa: A002
    type: Type = None,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that their workers report."""
    return list_tasks(parts, asking, TaskFilter.RUNNING, datasource, max=max, type=type)


@router.get("/pendingTasks", dependencies=[needs(Permission.READ, LISTED)])
def list_pending(
    parts: Parts,
    asking: Asking,
    datasource: str | None = None,
    *,
    max: Most = ROWS_DEFAULT,  # noqa: A002
    type: Type = None,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that are assigned and not yet reported by their workers."""
    return list_tasks(parts, asking, TaskFilter.PENDING, datasource, max=max, type=type)


@router.get("/waitingTasks", dependencies=[needs(Permission.READ, LISTED)])
def list_waiting(
    parts: Parts,
    asking: Asking,
    datasource: str | None = None,
    *,
    max: Most = ROWS_DEFAULT,  # noqa: A002
    type: Type = None,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that wait for locks: none ever does, since nothing is locked here."""
    return list_tasks(parts, asking, TaskFilter.WAITING, datasource, max=max, type=type)


@router.get("/completeTasks", dependencies=[needs(Permission.READ, LISTED)])
def list_complete(
    parts: Parts,
    asking: Asking,
    datasource: str | None = None,
    *,
    n: Most = ROWS_DEFAULT,
    type: Type = None,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that have ended."""
    return list_tasks(parts, asking, TaskFilter.COMPLETE, datasource, max=n, type=type)


@router.get("/task/{task_id}", dependencies=[needs(Permission.READ, TASK)])
def get_task(task_id: str, parts: Parts) -> dict[str, object]:
    """Return the payload of a task: `{task, payload}`."""
    try:
        return parts.tasks.task(task_id)
    except TaskNotFound:
        return submitted_of(parts).payload(task_id)


@router.get("/task/{task_id:path}/reports", dependencies=[needs(Permission.READ, TASK)])
def get_task_reports(task_id: str, parts: Parts) -> dict[str, object]:
    """Return what a task has counted so far, or had counted when it ended, in Druid's shapes.

    The id may be that of a compaction, of an execution, or `<execution>/<step>`.
    """
    try:
        return parts.task_reports.reports(task_id)
    except TaskNotFound:
        with _no_execution_is_no_task(task_id):
            return parts.execution_reports.reports(*_execution_and_step(task_id))


@router.get(
    "/task/{task_id:path}/log",
    response_class=PlainTextResponse,
    responses={503: {"description": "Its worker does not answer, and nothing of it is stored"}},
    dependencies=[needs(Permission.READ, TASK)],
)
def get_task_log(task_id: str, parts: Parts, offset: Offset = 0) -> Response:
    """Return a piece of a task's log, as text: from its worker, or from the store of logs.

    The id may be that of a compaction, of an execution, or `<execution>/<step>`.

    `X-Tidegate-Log-Start` says where the piece begins, `X-Tidegate-Log-Size` how long the log is.
    `X-Tidegate-Log-Missing` says what of it is not there, and why, if something is missing.
    """
    try:
        return log_answer(parts.task_logs.log(task_id, offset))
    except TaskNotFound:
        with _no_execution_is_no_task(task_id):
            execution, step = _execution_and_step(task_id)
            return log_answer(parts.execution_logs.log(execution, step, offset))


def _execution_and_step(task_id: str) -> tuple[str, str | None]:
    """Return the execution, and the step or None, that an id of no task names.

    Raises:
        TaskNotFound: this is the id of no execution, as these have a colon.
    """
    execution, slash, step = task_id.partition("/")
    if ":" not in execution or (slash and not step):
        raise TaskNotFound(task_id)
    return execution, step or None


@contextmanager
def _no_execution_is_no_task(task_id: str) -> Iterator[None]:
    try:
        yield
    except ExecutionNotFound as error:
        raise TaskNotFound(task_id) from error


def log_answer(part: LogPart) -> Response:
    """Return the answer with a piece of a log."""
    headers = {"X-Tidegate-Log-Start": str(part.start), "X-Tidegate-Log-Size": str(part.size)}
    if part.missing:
        headers["X-Tidegate-Log-Missing"] = quote(part.missing, safe=" ,;:.[]()'")
    return Response(part.content, 200, headers, "text/plain; charset=utf-8")


@router.get("/task/{task_id}/status", dependencies=[needs(Permission.READ, TASK)])
def get_task_status(task_id: str, parts: Parts) -> TaskStatusView:
    """Return one task's row; a bounded supervisor is a task as well, under its own id."""
    try:
        return parts.tasks.task_status(task_id)
    except TaskNotFound:
        return submitted_of(parts).status(task_id)


def submitted_of(parts: Parts) -> SubmittedTasks:
    """Return the verbs on submitted tasks."""
    return SubmittedTasks(parts.store, parts.service)
