"""The route of an execution's log."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Parts
from supervisor.api.routes.flows.executions import ExecutionId
from supervisor.api.routes.tasks.tasks import Offset, log_answer
from supervisor.core.values.permissions import Permission

router = APIRouter(prefix="/api/v1/executions", tags=["flows"])

OfStep = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=300,
        description="The lines of this step alone, by its name or by the id of a task run.",
    ),
]


@router.get(
    "/{execution}/log",
    response_class=PlainTextResponse,
    dependencies=[needs(Permission.READ)],
)
def get_execution_log(
    execution: ExecutionId, parts: Parts, *, step: OfStep = None, offset: Offset = 0
) -> Response:
    """Return a piece of an execution's log, as text; of a deleted one, what a persister stored.

    The headers are those of a task's log.
    """
    return log_answer(parts.execution_logs.log(execution, step, offset))
