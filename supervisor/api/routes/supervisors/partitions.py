"""The partitions of a supervisor: offsets, lag and retention headroom of each."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.conditional import answer_unless_known
from supervisor.api.http.deps import Parts
from supervisor.api.http.preconditions import KnownTags
from supervisor.api.routes.cluster.audit import Cursor, Limit
from supervisor.core.history.partitions import OnlyPartitions
from supervisor.core.values.permissions import Permission
from supervisor.views.partitions import PartitionsPage, partitions_page

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["supervisors"])

Sort = Annotated[
    Literal[
        "partition",
        "-partition",
        "lagRecords",
        "-lagRecords",
        "lagMillis",
        "-lagMillis",
        "headroomRecords",
        "-headroomRecords",
        "headroomMillis",
        "-headroomMillis",
    ],
    Query(description="A column; with `-` the highest first.  Unknown values come last."),
]

Only = Annotated[
    OnlyPartitions | None,
    Query(description="Those with unread records, or those that retention puts at risk."),
]


@router.get(
    "/partitions",
    response_model=PartitionsPage,
    responses={304: {"description": "If-None-Match names this answer"}},
    dependencies=[needs(Permission.READ, SUPERVISOR)],
)
def list_partitions(
    supervisor_id: str,
    request: Request,
    parts: Parts,
    known: KnownTags,
    *,
    sort: Sort = "partition",
    only: Only = None,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> Response:
    """List partitions with offsets, lag, tasks and the time until Kafka deletes unread records.

    Answered from the leader's last look at Kafka, `readAt`; it starts none.
    """
    seen, states = parts.supervisors.partitions(supervisor_id)
    page = partitions_page(seen, states, sort, limit, cursor, only=only)
    return answer_unless_known(request, known, page)
