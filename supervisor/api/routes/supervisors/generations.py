"""The ranges of a supervisor, and how long each step of them took."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from supervisor.api.http.access import SUPERVISOR_EVER, Shown, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.windows import From, To, check_times
from supervisor.api.routes.cluster.audit import Cursor, Limit
from supervisor.core.history.windows import RangeWindow
from supervisor.core.model.rows import GenerationState
from supervisor.core.values.permissions import Permission
from supervisor.views.generations import GenerationsPage

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["history"])

_GROUP_MAX = 2**31 - 1
RangeState = Literal["READING", "PAUSING", "PUBLISHING", "PUBLISHED", "EMPTY", "DISCARDED"]


@router.get("/generations", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def list_generations(
    supervisor_id: str,
    parts: Parts,
    asking: Asking,
    *,
    begin: From = None,
    end: To = None,
    group: Annotated[
        int | None, Query(ge=0, le=_GROUP_MAX, description="Of this task group alone.")
    ] = None,
    state: Annotated[
        list[RangeState] | None, Query(description="In this state; may be repeated.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> GenerationsPage:
    """List ranges with their replicas and the times of their steps, newest first.

    A range is in the window of `from` and `to` if it was live at some time in it.  A page of a
    window may have less than `limit` ranges, and still name a next page.
    """
    check_times(begin=begin, end=end)
    states = frozenset(GenerationState(word) for word in state or ())
    window = RangeWindow(group, states, begin, end)
    page = parts.chronicle.generations(supervisor_id, limit, cursor, window)
    shown = Shown.to(asking, parts)
    ranges = [each for each in page.generations if shown.event(supervisor_id, each.opened_at)]
    return page.model_copy(update={"generations": ranges})
