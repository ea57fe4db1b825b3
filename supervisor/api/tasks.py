"""Druid's task routes.  Source: druid-supervisor.md 1.5."""

from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.deps import Parts
from supervisor.views_tasks import TASK_TYPE, TaskFilter, TaskRow, TaskStatusView

router = APIRouter(prefix="/druid/indexer/v1", tags=["tasks"])

ROWS_DEFAULT = 1_000
Most = Annotated[int, Query(ge=1, le=10_000, description="At most so many rows.")]
Type = Annotated[str | None, Query(description="Of another type than index_kafka there is none.")]


@router.get("/tasks")
def list_tasks(
    parts: Parts,
    state: TaskFilter | None = None,
    datasource: str | None = None,
    max: Most = ROWS_DEFAULT,  # noqa: A002 -- Druid's name
    type: Type = None,  # noqa: A002 -- Druid's name
) -> list[TaskRow]:
    """List tasks, newest first."""
    if type not in {None, TASK_TYPE}:
        return []
    return parts.views.tasks(state, datasource, max)


@router.get("/runningTasks")
def list_running(
    parts: Parts,
    datasource: str | None = None,
    max: Most = ROWS_DEFAULT,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that their workers report."""
    return parts.views.tasks(TaskFilter.RUNNING, datasource, max)


@router.get("/pendingTasks")
def list_pending(
    parts: Parts,
    datasource: str | None = None,
    max: Most = ROWS_DEFAULT,  # noqa: A002
) -> list[TaskRow]:
    """List tasks that are assigned and not yet reported by their workers."""
    return parts.views.tasks(TaskFilter.PENDING, datasource, max)


@router.get("/completeTasks")
def list_complete(
    parts: Parts, datasource: str | None = None, n: Most = ROWS_DEFAULT
) -> list[TaskRow]:
    """List tasks that have ended."""
    return parts.views.tasks(TaskFilter.COMPLETE, datasource, n)


@router.get("/task/{task_id}")
def get_task(task_id: str, parts: Parts) -> dict[str, object]:
    """Return what a task was told to do: `{task, payload}`."""
    return parts.views.task(task_id)


@router.get("/task/{task_id}/status")
def get_task_status(task_id: str, parts: Parts) -> TaskStatusView:
    """Return one task's row."""
    return parts.views.task_status(task_id)
