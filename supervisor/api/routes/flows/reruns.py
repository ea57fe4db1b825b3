"""Routes of reruns: what one would do, and one that is started."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.routes.flows.executions import CallerKey, ExecutionId, HeaderKey
from supervisor.core.executions.entities import RerunOf
from supervisor.core.values.permissions import Permission
from supervisor.services.flows.reruns import Reruns
from supervisor.views.flows.executions import ExecutionView, execution_view
from supervisor.views.flows.reruns import RerunPlanView, rerun_plan_view
from tasks.contract.wire import Wire

router = APIRouter(prefix="/api/v1/executions", tags=["flows"])

STEP_NAME = r"^[A-Za-z][A-Za-z0-9_]{0,63}$"


class RerunDocument(Wire):
    """How an execution is rerun."""

    first: Annotated[str, Field(pattern=STEP_NAME, strict=True)] | None = Field(
        default=None, alias="from"
    )
    """The step that begins anew, and all that comes after it; null: what was not done."""
    latest: bool = False
    """By the newest version of the flow, and not by the one that the execution ran."""
    force: bool = False
    """Keep outputs of steps that are others in the newest version."""
    key: CallerKey | None = None
    """Of your own: a repeat with it finds the rerun."""


@router.get("/{execution}/rerun", dependencies=[needs(Permission.READ)])
def plan_rerun(
    execution: ExecutionId,
    parts: Parts,
    *,
    first: Annotated[
        str | None,
        Query(alias="from", pattern=STEP_NAME, description="The step that begins anew."),
    ] = None,
    latest: Annotated[bool, Query(description="By the newest version of the flow.")] = False,
) -> RerunPlanView:
    """Return what a rerun would keep and what would begin anew; nothing is changed."""
    preview = Reruns(parts.executions).preview(RerunOf(execution, first, latest))
    return rerun_plan_view(preview)


@router.post(
    "/{execution}/rerun",
    status_code=202,
    responses={200: {"model": ExecutionView, "description": "One with this key is there."}},
    dependencies=[needs(Permission.FLOW_RUN)],
)
def rerun_execution(
    execution: ExecutionId,
    wanted: RerunDocument,
    header: HeaderKey,
    author: Author,
    parts: Parts,
    *,
    response: Response,
) -> ExecutionView:
    """Start an ended execution anew, from a step; 200: one with this key is there."""
    how = RerunOf(execution, wanted.first, wanted.latest, wanted.force)
    rerun, is_new = Reruns(parts.executions).start(how, wanted.key or header, author)
    if not is_new:
        response.status_code = 200
    return execution_view(rerun)
