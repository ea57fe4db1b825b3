"""The offsets of a time, of a place in the log, and of a shift: for the dialogs of a reset."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import JsonValue

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Parts
from supervisor.core.planning.wished_offsets import AtTime, LogPlace, OffsetWish
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.field_types import shown
from supervisor.core.values.permissions import Permission
from supervisor.views.supervisors.resets import OffsetsAt

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["supervisors"])

_OFFSET_MAX = 2**63 - 1
_TIME_HINT = (
    "earliest, latest, committed, or a time such as 2026-01-05T12:00:00Z (a + is written %2B)"
)
_SCHEMA: dict[str, JsonValue] = {"anyOf": [{"enum": [*LogPlace]}, {"format": "date-time"}]}


@router.get("/offsets", dependencies=[needs(Permission.RESET, SUPERVISOR)])
def find_offsets(
    supervisor_id: str,
    parts: Parts,
    *,
    at: Annotated[
        str,
        Query(
            max_length=100,
            description="`earliest`, `latest`, `committed`, or a time: the first record of then "
            "or later.",
            examples=["2026-01-05T12:00:00Z"],
            json_schema_extra=_SCHEMA,
        ),
    ] = LogPlace.COMMITTED,
    shift: Annotated[
        int,
        Query(
            ge=-_OFFSET_MAX,
            le=_OFFSET_MAX,
            description="So many records after that; below 0: before it.",
        ),
    ] = 0,
) -> OffsetsAt:
    """Find the offsets of a time or an end of the log, or so many records on; changes nothing.

    Asks Kafka.  `resetOffsets` takes what it answers.
    """
    return parts.offsets.find(supervisor_id, OffsetWish(_begin(at), shift))


def _begin(at: str) -> AtTime | LogPlace:
    if at in set(LogPlace):
        return LogPlace(at)
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise _refused(f"{shown(at)} is no time") from None
    if moment.tzinfo is None:
        raise _refused("has no time zone")
    return AtTime(moment)


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest([FieldError("/query/at", message, _TIME_HINT)])
