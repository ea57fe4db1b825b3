"""The lag of a supervisor over the last day."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.http.access import SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Parts
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.field_types import Duration
from supervisor.core.values.permissions import Permission
from supervisor.views.lag import LagHistory

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["history"])

STEP_MIN = timedelta(minutes=1)
Moment = Annotated[datetime | None, Query(examples=["2026-01-05T12:00:00Z"])]


@router.get("/lag", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
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
