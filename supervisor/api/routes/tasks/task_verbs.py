"""Druid's task routes that change tasks, and those that Tidegate refuses.

Source: Druid's OverlordResource.  Calls of Druid's own tasks (`/action`, locks) have no
counterpart: a supervisor is the only writer of tasks, and nothing is locked.
"""

import secrets
from string import ascii_lowercase
from typing import Annotated, NoReturn

from fastapi import APIRouter, Body, Query
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, Field

from supervisor.api.http.access import DATA_SOURCE, LISTED, SPEC, TASK, needs
from supervisor.api.http.deps import Asking, Author, Document, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.api.routes.tasks.tasks import interval_of, submitted_of
from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.attention.foreseen.ranges import stop_foreseen
from supervisor.core.history.operations import OperationKind
from supervisor.core.values.errors import (
    FieldError,
    InvalidRequest,
    NotOffered,
    SegmentsMoved,
    TaskNotFound,
)
from supervisor.core.values.intervals import FORM, PATTERN
from supervisor.core.values.json_bodies import storable
from supervisor.core.values.permissions import Permission
from supervisor.services.access.applying import applying
from supervisor.services.access.ownership import Ownership
from supervisor.services.foresight.ranges import STOP
from supervisor.services.services import Services
from supervisor.views.attention.foreseen import VerbPreview
from supervisor.views.tasks import TaskShort
from tasks.contract.wire import Wire

router = APIRouter(prefix="/druid/indexer/v1", tags=["tasks"])

IDS_MAX = 10_000
_SUFFIX_LETTERS = 8
TASK_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "description": "A task of type index_kafka with start and end offsets, as Druid's.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


class TaskNamed(Wire):
    """Druid's answer to a verb of one task."""

    task: str


class DataSourceNamed(Wire):
    """Druid's answer to a verb of one table."""

    data_source: str


class PendingDeleted(Wire):
    """Druid's answer to the removal of pending segments."""

    num_deleted: int


class LockFilter(Wire):
    """A table whose locks are listed."""

    datasource: str
    priority: Annotated[int, Field(strict=True)] | None = None
    context: dict[str, object] | None = None


@router.post(
    "/task/{task_id}/shutdown",
    response_model=TaskNamed | VerbPreview,
    dependencies=[needs(Permission.STOP_TASK, TASK)],
)
def stop_task(
    task_id: str, author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> TaskNamed | JSONResponse:
    """End a task as FAILED; another one reads its range.  One that has ended stays as it is."""
    if dry_run:
        return preview_of(_stop_foreseen(task_id, parts))
    with previewed():
        try:
            parts.task_stops.stop(task_id, author, parts.foresight.judge_task(expect))
        except TaskNotFound:
            judge = parts.foresight.judge_version(OperationKind.TERMINATE, task_id, expect)
            submitted_of(parts).stop(task_id, author, judge)
    return TaskNamed(task=task_id)


def _stop_foreseen(task_id: str, parts: Services) -> Foreseen:
    try:
        return parts.foresight.of_task(task_id)
    except TaskNotFound:
        if submitted_of(parts).is_over(task_id):
            return stop_foreseen(STOP, task_id, (), ())
        return parts.foresight.of_version(OperationKind.TERMINATE, task_id)


@router.post(
    "/datasources/{data_source}/shutdownAllTasks",
    response_model=DataSourceNamed | VerbPreview,
    dependencies=[needs(Permission.STOP_TASK, DATA_SOURCE)],
)
def stop_tasks(
    data_source: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> DataSourceNamed | JSONResponse:
    """End every task of a table; others read their ranges, as long as its supervisors run."""
    if dry_run:
        return preview_of(parts.foresight.of_tasks(data_source))
    with previewed():
        judge = parts.foresight.judge_tasks(data_source, expect)
        parts.task_stops.stop_all(data_source, author, judge)
    return DataSourceNamed(data_source=data_source)


@router.post("/taskStatus", dependencies=[needs(Permission.READ, LISTED)])
def get_task_statuses(
    task_ids: Annotated[
        list[Annotated[str, AfterValidator(storable)]],
        Body(
            max_length=IDS_MAX,
            examples=[["index_kafka_a_b_c"]],
            json_schema_extra={"minItems": 1},
        ),
    ],
    parts: Parts,
    asking: Asking,
) -> dict[str, TaskShort]:
    """Return id -> short status; ids that no task has are left out."""
    if not task_ids:
        raise InvalidRequest([FieldError("", "no task is named", "send a list of ids")])
    statuses = parts.tasks.short_statuses(task_ids)
    submitted = {
        task: TaskShort(
            id=task,
            status=row.status.status,
            duration=row.status.duration,
            error_msg=row.status.error_msg,
            location=row.status.location,
        )
        for task, row in submitted_of(parts).short_statuses(set(task_ids) - statuses.keys()).items()
        if asking.may_read(row.status.data_source)
    }
    if asking.reads_all:
        return statuses | submitted
    tables = Ownership(parts.store).of_tasks(statuses)
    shown = {task: row for task, row in statuses.items() if asking.may_read(tables[task])}
    return shown | submitted


@router.get(
    "/task/{task_id}/segments", response_model=None, dependencies=[needs(Permission.READ, TASK)]
)
def list_task_segments(task_id: str, parts: Parts) -> NoReturn:
    """Answer 404, as Druid does since it removed this: the table's segments name their task."""
    row = parts.tasks.task_status(task_id).status
    raise SegmentsMoved(
        "segments are not listed by task any more: "
        f"GET /api/v1/datasources/{row.data_source}/segments names the task of each"
    )


@router.post("/task", openapi_extra=TASK_BODY, dependencies=[needs(Permission.APPLY, SPEC)])
def post_task(document: Document, author: Author, asking: Asking, parts: Parts) -> TaskNamed:
    """Read a given range of a topic once: a task of type `index_kafka` becomes a supervisor."""
    submitted = submitted_of(parts)
    suffix = "".join(secrets.choice(ascii_lowercase) for _ in range(_SUFFIX_LETTERS))
    return TaskNamed(task=submitted.submit(document, author, suffix, applying(asking)))


@router.post("/action", response_model=None, dependencies=[needs(Permission.SIGNED_IN)])
def post_action() -> NoReturn:
    """Refuse: what Druid's tasks ask of their overlord, Tidegate's ask by their own API."""
    raise NotOffered(
        "task actions are Druid's own protocol: what a task has done is in "
        "/druid/indexer/v1/task/{id}/reports and .../log"
    )


@router.delete(
    "/pendingSegments/{data_source}", dependencies=[needs(Permission.DELETE, DATA_SOURCE)]
)
def delete_pending(
    data_source: str,
    interval: Annotated[
        str,
        Query(description=FORM, json_schema_extra={"pattern": PATTERN.replace("/", "[_/]")}),
    ],
) -> PendingDeleted:
    """Answer that there were none: a segment gets its row when it is published, not before."""
    del data_source
    interval_of(interval, "interval")
    return PendingDeleted(num_deleted=0)


@router.post("/lockedIntervals/v2", dependencies=[needs(Permission.SIGNED_IN)])
def list_locked(
    filters: Annotated[list[LockFilter], Body(max_length=IDS_MAX), Field(min_length=1)],
) -> dict[str, list[str]]:
    """Answer that nothing is locked: what tasks write is judged when they publish."""
    del filters
    return {}
