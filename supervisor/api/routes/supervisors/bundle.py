"""The incident bundle of a supervisor: all that a person on call hands over, in one archive."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from supervisor.api.http.access import SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.core.history.bundle import WINDOW, WINDOW_MAX, window_around
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.field_types import Duration
from supervisor.core.values.permissions import Permission
from supervisor.services.supervisors.bundle import Bundles

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["supervisors"])

MEDIA_TYPE = "application/zip"
_EXAMPLE = "2026-01-05T12:00:00Z"
_ARCHIVE = {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/bundle",
    response_class=Response,
    responses={200: {"description": "A zip archive", "content": {MEDIA_TYPE: _ARCHIVE}}},
    dependencies=[needs(Permission.READ, SUPERVISOR_EVER)],
)
def get_bundle(
    supervisor_id: str,
    parts: Parts,
    asking: Asking,
    *,
    at: Annotated[
        datetime | None,
        Query(description="The middle of the window; default: now.", examples=[_EXAMPLE]),
    ] = None,
    window: Annotated[
        Duration,
        Query(description="ISO 8601, up to PT24H: so long before and after.", examples=["PT30M"]),
    ] = WINDOW,
) -> Response:
    """Answer a zip of up to 32 MiB with what helps to understand an incident, secrets masked.

    Its `manifest.json` says what is in it, what was cut, and what could not be read.
    """
    moment = _checked(at, window) or parts.chronicle.clock.now()
    bundles = Bundles(parts, parts.chronicle.clock)
    archive = bundles.of(supervisor_id, asking, window_around(moment, window))
    headers = {
        "Content-Disposition": f'attachment; filename="{archive.name}"',
        "Cache-Control": "no-store",
    }
    return Response(archive.content, media_type=MEDIA_TYPE, headers=headers)


def _checked(at: datetime | None, window: timedelta) -> datetime | None:
    """Return the time in the middle, which has a zone.

    Raises:
        InvalidRequest: with the place of what is wrong.
    """
    if at is not None and at.tzinfo is None:
        raise InvalidRequest([FieldError("/query/at", "has no time zone", _EXAMPLE)])
    if window > WINDOW_MAX:
        raise InvalidRequest([FieldError("/query/window", "is longer than a day", "PT30M")])
    if at is not None and not 2000 <= at.year <= 2200:  # noqa: PLR2004 -- a window must fit around it
        raise InvalidRequest([FieldError("/query/at", "is no time of an incident", _EXAMPLE)])
    return at
