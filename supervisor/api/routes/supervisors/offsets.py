"""The offsets of a time, of the ends of the log, or of a shift: for the dialogs of a reset."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Parts
from supervisor.core.planning.offset_wishes import AtTime, EndOfLog, OffsetWish, ShiftBy
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.field_types import shown
from supervisor.core.values.permissions import Permission
from supervisor.views.resets import OffsetsAt

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["supervisors"])

_OFFSET_MAX = 2**63 - 1
_TIME_HINT = "earliest, latest, or a time such as 2026-01-05T12:00:00Z (a + is written %2B)"


@router.get("/offsets", dependencies=[needs(Permission.RESET, SUPERVISOR)])
def find_offsets(
    supervisor_id: str,
    parts: Parts,
    *,
    at: Annotated[
        str | None,
        Query(
            max_length=100,
            description="`earliest`, `latest`, or a time: the first record of then or later.",
            examples=["2026-01-05T12:00:00Z"],
        ),
    ] = None,
    shift: Annotated[
        int | None,
        Query(
            ge=-_OFFSET_MAX,
            le=_OFFSET_MAX,
            description="So many records after the committed offset; below 0: before it.",
        ),
    ] = None,
) -> OffsetsAt:
    """Find the offsets of a time, of an end of the log, or of a shift; asks Kafka, changes nothing.

    Exactly one of `at` and `shift` is given.  `resetOffsets` takes what it answers.
    """
    return parts.offsets.find(supervisor_id, _wish(at, shift))


def _wish(at: str | None, shift: int | None) -> OffsetWish:
    if (at is None) == (shift is None):
        given = "at and shift are both given" if at is not None else "neither at nor shift is given"
        raise _refused("/query/at", given, "exactly one of the two")
    if shift is not None:
        return ShiftBy(shift)
    if at in set(EndOfLog):
        return EndOfLog(at)
    try:
        moment = datetime.fromisoformat(at or "")
    except ValueError:
        raise _refused("/query/at", f"{shown(at)} is no time", _TIME_HINT) from None
    if moment.tzinfo is None:
        raise _refused("/query/at", "has no time zone", _TIME_HINT)
    return AtTime(moment)


def _refused(pointer: str, message: str, hint: str) -> InvalidRequest:
    return InvalidRequest([FieldError(pointer, message, hint)])
