"""Route of the overview: how everything stands, and what needs somebody."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from supervisor.api.http.access import needs
from supervisor.api.http.conditional import answer_unless_known
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.preconditions import KnownTags
from supervisor.core.values.permissions import Permission
from supervisor.views.attention.overview import Overview

router = APIRouter(prefix="/api/v1/overview", tags=["cluster"])

LIMIT_MAX = 1_000
_UNTAGGED = frozenset({"at", "database"})
"""They differ from answer to answer; that the database is silent is an item as well."""


@router.get(
    "",
    response_model=Overview,
    responses={304: {"description": "If-None-Match names this answer"}},
    dependencies=[needs(Permission.SIGNED_IN)],
)
def get_overview(
    request: Request,
    parts: Parts,
    asking: Asking,
    known: KnownTags,
    limit: Annotated[int, Query(ge=1, le=LIMIT_MAX, description="At most so many items.")] = 100,
) -> Response:
    """Return how everything stands that the caller may read, and what needs somebody, worst first.

    It is answered from rows and the leader's last passes, so it may be polled.
    """
    return answer_unless_known(request, known, parts.overviews.of(asking, limit), _UNTAGGED)
