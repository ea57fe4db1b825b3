"""Druid's task routes.  Source: druid-supervisor.md 1.5."""

from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.access import LISTED, TASK, needs
from supervisor.api.deps import Asking, Parts
from supervisor.core.access import Caller, Permission
from supervisor.views_tasks import TASK_TYPE, TaskFilter, TaskRow, TaskStatusView

router = APIRouter(prefix="/druid/indexer/v1", tags=["tasks"])

ROWS_DEFAULT, ROWS_MAX = 1_000, 10_000
Most = Annotated[int, Query(ge=1, le=ROWS_MAX, description="At most so many rows.")]
Type = Annotated[str | None, Query(description="Of another type than index_kafka there is none.")]


@router.get("/tasks", dependencies=[needs(Permission.READ, LISTED)])
def list_tasks(
    parts: Parts,
    asking: Asking,
    *,
    state: TaskFilter | None = None,
    datasource: str | None = None,
    max: Most = ROWS_DEFAULT,  # noqa: A002 -- Druid's name
    type: Type = None,  # noqa: A002 -- Druid's name
) -> list[TaskRow]:
    """List tasks, newest first."""
    if type not in {None, TASK_TYPE}:
        return []
    return _tasks(parts, asking, state, datasource, max)


@router.get("/runningTasks", dependencies=[needs(Permission.READ, LISTED)])
def list_running(
    parts: Parts,
    asking: Asking,
    datasource: str | None = None,
    max: Most = ROWS_DEFAULT,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that their workers report."""
    return _tasks(parts, asking, TaskFilter.RUNNING, datasource, max)


@router.get("/pendingTasks", dependencies=[needs(Permission.READ, LISTED)])
def list_pending(
    parts: Parts,
    asking: Asking,
    datasource: str | None = None,
    max: Most = ROWS_DEFAULT,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that are assigned and not yet reported by their workers."""
    return _tasks(parts, asking, TaskFilter.PENDING, datasource, max)


@router.get("/completeTasks", dependencies=[needs(Permission.READ, LISTED)])
def list_complete(
    parts: Parts, asking: Asking, datasource: str | None = None, n: Most = ROWS_DEFAULT
) -> list[TaskRow]:
    """List tasks that have ended."""
    return _tasks(parts, asking, TaskFilter.COMPLETE, datasource, n)


def _tasks(
    parts: Parts, asking: Caller, state: TaskFilter | None, data_source: str | None, most: int
) -> list[TaskRow]:
    """Return what the caller may read; of somebody who may not read all, among the newest."""
    if asking.reads_all:
        return parts.views.tasks(state, data_source, most)
    found = parts.views.tasks(state, data_source, ROWS_MAX)
    return [row for row in found if asking.may_read(row.data_source)][:most]


@router.get("/task/{task_id}", dependencies=[needs(Permission.READ, TASK)])
def get_task(task_id: str, parts: Parts) -> dict[str, object]:
    """Return what a task was told to do: `{task, payload}`."""
    return parts.views.task(task_id)


@router.get("/task/{task_id}/status", dependencies=[needs(Permission.READ, TASK)])
def get_task_status(task_id: str, parts: Parts) -> TaskStatusView:
    """Return one task's row."""
    return parts.views.task_status(task_id)
