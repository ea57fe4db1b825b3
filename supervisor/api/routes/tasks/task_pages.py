"""The route of tasks page by page, an addition to Druid's API."""

from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.http.access import LISTED, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.core.model.rows import TaskStatus
from supervisor.core.model.task_query import TaskQuery
from supervisor.core.values.page_cursors import NAMED_LENGTH_MAX
from supervisor.core.values.permissions import Permission, permitted
from supervisor.views.tasks import TasksPage

router = APIRouter(prefix="/api/v1", tags=["tasks"])

LIMIT_MAX = 1_000
GROUP_MAX = 2**31 - 1
Name = Annotated[str | None, Query(min_length=1, max_length=200)]
Group = Annotated[int | None, Query(ge=0, le=GROUP_MAX, description="Of this task group.")]
Text = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        description="A part of the id, the worker's id or the reason, in upper or lower case.",
    ),
]
OwnFailure = Annotated[
    bool,
    Query(
        alias="ownFailure",
        description="Only those that failed by themselves, and were not lost with their worker.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="At most so many.")]
Cursor = Annotated[
    str | None,
    Query(
        description="The `next` of the page before.",
        json_schema_extra={"pattern": f"^[A-Za-z0-9_-]{{1,{NAMED_LENGTH_MAX}}}$"},
    ),
]


@router.get("/tasks", dependencies=[needs(Permission.READ, LISTED)])
def list_task_pages(
    parts: Parts,
    asking: Asking,
    *,
    supervisor: Name = None,
    generation: Name = None,
    group: Group = None,
    worker: Name = None,
    status: TaskStatus | None = None,
    own_failure: OwnFailure = False,
    q: Text = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> TasksPage:
    """List tasks, newest first: of a supervisor, range, group, worker or status, or by a text."""
    readable = permitted(asking.grants).get(Permission.READ, ())
    wanted = TaskQuery(
        tables=None if asking.reads_all else readable,
        supervisor_id=supervisor,
        generation_id=generation,
        group=group,
        worker_id=worker,
        status=status,
        own_failure=own_failure,
        text=q,
    )
    return parts.tasks.page(wanted, limit, cursor)
