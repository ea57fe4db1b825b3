"""The route of coverage: what became of each offset of a supervisor."""

from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.http.access import SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Parts
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.permissions import Permission
from supervisor.views.tables.coverage import CoverageView, CoverageWindow

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["supervisors"])

_OFFSET_MAX = 2**63 - 1
_PARTITION_MAX = 2**31 - 1
TOPIC_MAX = 249
"""Kafka's longest name of a topic."""


@router.get("/coverage", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def get_coverage(
    supervisor_id: str,
    parts: Parts,
    *,
    topic: Annotated[
        str | None, Query(max_length=TOPIC_MAX, description="Partitions of this topic alone.")
    ] = None,
    partition: Annotated[
        int | None, Query(ge=0, le=_PARTITION_MAX, description="The partition of this number.")
    ] = None,
    first: Annotated[
        int | None, Query(alias="from", ge=0, le=_OFFSET_MAX, description="Runs from here on.")
    ] = None,
    end: Annotated[
        int | None, Query(alias="to", ge=0, le=_OFFSET_MAX, description="Runs before this offset.")
    ] = None,
) -> CoverageView:
    """Tell what became of each offset: published, declared lost or skipped, or unexplained.

    Publications, declared breaks and committed offsets are added up; Kafka and the files are not
    read.
    """
    if first is not None and end is not None and first > end:
        raise InvalidRequest([FieldError("/query/to", f"is less than from, {first}", str(first))])
    window = CoverageWindow(topic=topic, partition=partition, first=first, end=end)
    return parts.coverage.coverage(supervisor_id, window)
