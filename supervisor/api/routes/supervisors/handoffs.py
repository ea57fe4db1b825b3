"""Druid's early handoff of task groups.  Source: Druid 33's API reference."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.api.routes.supervisors.operations import named
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.permissions import Permission
from supervisor.views.attention.foreseen import VerbPreview
from tasks.contract.wire import Wire

router = APIRouter(prefix="/druid/indexer/v1/supervisor", tags=["supervisors"])

_GROUP_MAX = 2**31 - 1


class WantedGroups(Wire):
    """Which task groups are to hand off."""

    task_group_ids: tuple[Annotated[int, Field(strict=True, ge=0, le=_GROUP_MAX)], ...] = Field(
        max_length=1_000, json_schema_extra={"minItems": 1}
    )


@router.post(
    "/{supervisor_id}/taskGroups/handoff",
    status_code=HTTPStatus.ACCEPTED,
    response_class=Response,
    responses={
        200: {"model": VerbPreview, "description": "A dry run: what it would do"},
        202: {"description": "Asked for; the next pass begins it"},
    },
    dependencies=[needs(Permission.HAND_OFF, SUPERVISOR)],
)
def hand_off(
    supervisor_id: str,
    wanted: WantedGroups,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Response:
    """Publish what these groups have read before their taskDuration is over.

    A group that hands off already is left alone, and one that has read nothing reads on.
    """
    if not wanted.task_group_ids:
        hint = "name at least one: GET .../status lists them as payload.groups"
        raise InvalidRequest([FieldError("/taskGroupIds", "no task group is named", hint)])
    groups = wanted.task_group_ids
    if dry_run:
        return preview_of(parts.foresight.of_handoff(supervisor_id, groups))
    judge = parts.foresight.judge_handoff(supervisor_id, expect)
    with previewed():
        operation = parts.handoffs.request(supervisor_id, groups, author, judge)
    response = Response(status_code=HTTPStatus.ACCEPTED)
    named(response, operation.id)
    return response
