"""The lag of a supervisor, or of several, over the last day."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from supervisor.api.http.access import LISTED, SUPERVISOR_EVER, needs
from supervisor.api.http.conditional import answer_unless_known
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.preconditions import KnownTags
from supervisor.api.http.windows import From, To, check_times
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.field_types import Duration
from supervisor.core.values.permissions import Permission
from supervisor.views.lag import LagHistory, LagsView

router = APIRouter(prefix="/api/v1", tags=["history"])

IDS_MAX = 200
STEP_MIN = timedelta(minutes=1)
Moment = Annotated[datetime | None, Query(examples=["2026-01-05T12:00:00Z"])]


@router.get(
    "/supervisors/{supervisor_id}/lag", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)]
)
def get_lag(
    supervisor_id: str,
    parts: Parts,
    *,
    begin: Annotated[Moment, Query(alias="from", description="Default: 24 hours ago.")] = None,
    end: Annotated[Moment, Query(alias="to", description="Default: now.")] = None,
    step: Annotated[
        Duration | None, Query(description="ISO 8601, PT1M or more: the worst sample of each.")
    ] = None,
) -> LagHistory:
    """Tell how far a supervisor was behind, in records and in time; one sample a minute, 24 h."""
    for name, moment in (("from", begin), ("to", end)):
        if moment is not None and moment.tzinfo is None:
            hint = "2026-01-05T12:00:00Z"
            raise InvalidRequest([FieldError(f"/query/{name}", "has no time zone", hint)])
    if step is not None and step < STEP_MIN:
        raise InvalidRequest([FieldError("/query/step", "is less than a minute", "PT5M")])
    return parts.chronicle.lag(supervisor_id, begin, end, step)


_Ids = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=1_000)]],
    Query(alias="id", min_length=1, max_length=IDS_MAX, description="A supervisor; repeated."),
]
_Step = Annotated[
    Duration,
    Query(description="ISO 8601, PT1M or more; at most 300 of them.", examples=["PT15M"]),
]


@router.get(
    "/lag",
    response_model=LagsView,
    responses={304: {"description": "If-None-Match names this answer"}},
    dependencies=[needs(Permission.READ, LISTED)],
)
def list_lag(
    request: Request,
    parts: Parts,
    asking: Asking,
    known: KnownTags,
    ids: _Ids,
    *,
    begin: From = None,
    end: To = None,
    step: _Step = timedelta(minutes=15),
) -> Response:
    """Tell how far several supervisors were behind, step by step: the worst of each step, 24 h.

    A supervisor that the caller may not see is left out, as one that is not there.
    """
    check_times(begin=begin, end=end)
    may_read = None if asking.reads_all else asking.may_read
    answer = parts.chronicle.lags(ids, may_read, begin, end, step)
    return answer_unless_known(request, known, answer)
