"""Druid's task routes: what is done to tasks, and what is not done here.

Source: Druid's OverlordResource.  What Druid's own tasks ask for (`/action`, locks) has no
counterpart: a supervisor is the only writer of tasks, and nothing is locked.
"""

from typing import Annotated, NoReturn

from fastapi import APIRouter, Body, Query
from pydantic import Field

from supervisor.api.access import DATA_SOURCE, LISTED, TASK, needs
from supervisor.api.deps import Asking, Author, Parts
from supervisor.api.problems import InvalidRequest
from supervisor.api.tasks import interval_of
from supervisor.core.access import Permission
from supervisor.core.errors import FieldError, NotOffered, SegmentsMoved
from supervisor.core.intervals import FORM
from supervisor.ownership import Ownership
from supervisor.views_tasks import TaskShort
from tasks.wire import Wire

router = APIRouter(prefix="/druid/indexer/v1", tags=["tasks"])

IDS_MAX = 10_000


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
    """Whose locks are asked for."""

    datasource: str
    priority: int | None = None
    context: dict[str, object] | None = None


@router.post("/task/{task_id}/shutdown", dependencies=[needs(Permission.STOP_TASK, TASK)])
def stop_task(task_id: str, author: Author, parts: Parts) -> TaskNamed:
    """End a task as FAILED; another one reads its range.  One that has ended stays as it is."""
    parts.administration.tasks.stop(task_id, author)
    return TaskNamed(task=task_id)


@router.post(
    "/datasources/{data_source}/shutdownAllTasks",
    dependencies=[needs(Permission.STOP_TASK, DATA_SOURCE)],
)
def stop_tasks(data_source: str, author: Author, parts: Parts) -> DataSourceNamed:
    """End every task of a table; others read their ranges, as long as its supervisors run."""
    parts.administration.tasks.stop_all(data_source, author)
    return DataSourceNamed(data_source=data_source)


@router.post("/taskStatus", dependencies=[needs(Permission.READ, LISTED)])
def get_task_statuses(
    task_ids: Annotated[list[str], Body(max_length=IDS_MAX, examples=[["index_kafka_a_b_c"]])],
    parts: Parts,
    asking: Asking,
) -> dict[str, TaskShort]:
    """Return id -> short status; ids that no task has are left out."""
    if not task_ids:
        raise InvalidRequest([FieldError("", "no task is named", "send a list of ids")])
    found = parts.views.short_statuses(task_ids)
    if asking.reads_all:
        return found
    tables = Ownership(parts.views.sources.store).of_tasks(found)
    return {task: row for task, row in found.items() if asking.may_read(tables[task])}


@router.get(
    "/task/{task_id}/segments", response_model=None, dependencies=[needs(Permission.READ, TASK)]
)
def list_task_segments(task_id: str, parts: Parts) -> NoReturn:
    """Answer 404, as Druid does since it removed this: the table's segments name their task."""
    row = parts.views.task_status(task_id).status
    raise SegmentsMoved(
        "segments are not listed by task any more: "
        f"GET /api/v1/datasources/{row.data_source}/segments names the task of each"
    )


@router.post("/task", response_model=None, dependencies=[needs(Permission.SIGNED_IN)])
def post_task() -> NoReturn:
    """Refuse: tasks are made by supervisors alone."""
    raise NotOffered(
        "tasks are made by supervisors: POST a supervisor spec to /druid/indexer/v1/supervisor; "
        "with boundedStreamConfig it reads a given range and ends"
    )


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
    data_source: str, interval: Annotated[str, Query(description=FORM)]
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
