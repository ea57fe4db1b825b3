"""The partitions of a supervisor: offsets, lag and retention headroom of each."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.conditional import answer_unless_known
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.preconditions import KnownTags
from supervisor.api.routes.cluster.audit import Cursor, Limit
from supervisor.api.routes.supervisors.explain import get_explanation
from supervisor.api.routes.supervisors.listing import ITEMS
from supervisor.core.history.listing import ListFilter, ListOrder
from supervisor.core.history.partitions import OnlyPartitions
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.services import Services
from supervisor.views.listing import ListedRow, supervisors_page
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

_ROWS = 200
"""Supervisors whose id, table or topic begins as the id does: its own row is among them."""
Along = Annotated[
    list[Literal["overview", "row", "explanation"]] | None,
    Query(
        max_length=3,
        description="What the answer brings along, so that a page that polls asks once.",
    ),
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
    asking: Asking,
    known: KnownTags,
    *,
    sort: Sort = "partition",
    only: Only = None,
    limit: Limit = 200,
    cursor: Cursor = None,
    along: Along = None,
) -> Response:
    """List partitions with offsets, lag, tasks and the time until Kafka deletes unread records.

    Answered from the leader's last look at Kafka, `readAt`; it starts none.
    """
    seen, states = parts.supervisors.partitions(supervisor_id)
    page = partitions_page(seen, states, sort, limit, cursor, only=only)
    wanted = frozenset(along or ())
    more = {
        "overview": parts.overviews.of(asking, ITEMS) if "overview" in wanted else None,
        "row": _row(supervisor_id, parts, asking) if "row" in wanted else None,
        "explanation": get_explanation(supervisor_id, parts) if "explanation" in wanted else None,
    }
    return answer_unless_known(request, known, page.model_copy(update=more))


def _row(supervisor_id: str, parts: Services, asking: Caller) -> ListedRow | None:
    """Return the row of a supervisor, as the list of those that begin so has it."""

    def may_read(table: str | None) -> bool:
        return asking.reads_all or asking.may_read(table or "")

    wanted = ListFilter(text=f"{supervisor_id}*")
    shown = parts.listing.page(may_read, wanted, ListOrder.parse("id"), _ROWS, None)
    page = supervisors_page(shown.page, shown.remedies, shown.running)
    return next((row for row in page.supervisors if row.id == supervisor_id), None)
