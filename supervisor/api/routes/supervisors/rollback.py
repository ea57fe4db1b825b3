"""The route of a rollback to an earlier version of a spec, an addition to Druid's API."""

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Asking, Author, Parts
from supervisor.api.http.preconditions import Precondition
from supervisor.api.http.previews import DryRun
from supervisor.api.routes.supervisors.supervisors import posted
from supervisor.core.values.permissions import Permission
from supervisor.services.access.applying import applying
from supervisor.services.supervisors.rollback import roll_back
from supervisor.views.supervisors.specs import Posted
from tasks.contract.wire import Wire

router = APIRouter(prefix="/api/v1/supervisors", tags=["supervisors"])

_VERSION_MAX = 2**31 - 1


class RollbackRequest(Wire):
    """Which version is to be the newest again."""

    version: Annotated[int, Field(strict=True, ge=1, le=_VERSION_MAX)]


class RolledBack(Posted):
    """What a POST of that version's spec does."""

    to: int
    """The version whose spec it is."""
    dry_run: bool


@router.post(
    "/{supervisor_id}/rollback",
    response_model_exclude_unset=True,
    dependencies=[needs(Permission.APPLY, SUPERVISOR)],
)
def rollback(
    supervisor_id: str,
    wanted: RollbackRequest,
    author: Author,
    asking: Asking,
    parts: Parts,
    *,
    expected: Precondition,
    response: Response,
    dry_run: DryRun = False,
) -> RolledBack:
    """Store the spec of an earlier version once more, as the newest; judged like a POST."""
    done = roll_back(
        parts.service,
        supervisor_id,
        wanted.version,
        author,
        expected=expected,
        allowed=applying(asking),
        dry_run=dry_run,
    )
    members = posted(done.applied, response) | {"to": done.to, "dry_run": dry_run}
    return RolledBack.model_validate(members)
