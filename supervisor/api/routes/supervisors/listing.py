"""The lists of supervisors, page by page: those that run, from the last passes, and those ended."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from supervisor.api.http.access import LISTED, needs
from supervisor.api.http.conditional import answer_unless_known
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.preconditions import KnownTags
from supervisor.core.history.listing import COLUMNS, ListFilter, ListOrder
from supervisor.core.values.page_cursors import KEYED_LENGTH_MAX
from supervisor.core.values.permissions import Permission
from supervisor.services.history.terminated import TerminatedFilter, terminated_supervisors
from supervisor.views.listing import SupervisorsPage, supervisors_page
from supervisor.views.supervisors.terminated import TerminatedPage

router = APIRouter(prefix="/api/v1/supervisors", tags=["supervisors"])

LIMIT_MAX = 1_000
STATES_MAX = 20
ITEMS = 100
"""Items of an overview that is brought along: as many as the overview has by itself."""
TEXT_MAX = 1_000
_NAMES = "|".join(COLUMNS)
_ANY_SIGNS = "* stands for any signs."
_Text = Annotated[
    str | None,
    Query(max_length=TEXT_MAX, description="A part of the id, table or topic, in any case."),
]
_States = Annotated[
    list[Annotated[str, Field(max_length=100)]] | None,
    Query(max_length=STATES_MAX, description="States or detailed states, in any case."),
]
_OfTable = Annotated[
    str | None, Query(alias="dataSource", max_length=TEXT_MAX, description=_ANY_SIGNS)
]
_OfTopic = Annotated[str | None, Query(max_length=TEXT_MAX, description=_ANY_SIGNS)]
_Bounded = Annotated[
    bool | None, Query(description="Whether it reads fixed ranges once, as a backfill does.")
]
_Sort = Annotated[
    str,
    Query(
        description="A column; with - before it, the highest value first; unknown ones last.",
        json_schema_extra={"pattern": f"^-?({_NAMES})$"},
    ),
]
_Cursor = Annotated[
    str | None,
    Query(
        description="The `next` of the page before, in the same order.",
        json_schema_extra={"pattern": f"^[A-Za-z0-9_-]{{1,{KEYED_LENGTH_MAX}}}$"},
    ),
]
_PartOfEnded = Annotated[
    str | None, Query(max_length=TEXT_MAX, description="A part of the id or table, in any case.")
]
_Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="At most so many.")]
_Along = Annotated[
    list[Literal["overview"]] | None,
    Query(
        max_length=1,
        description="What the answer brings along, so that a page that polls asks once.",
    ),
]


@router.get(
    "",
    response_model=SupervisorsPage,
    responses={304: {"description": "If-None-Match names this answer"}},
    dependencies=[needs(Permission.READ, LISTED)],
)
def list_by_filter(
    request: Request,
    parts: Parts,
    asking: Asking,
    known: KnownTags,
    *,
    q: _Text = None,
    state: _States = None,
    data_source: _OfTable = None,
    topic: _OfTopic = None,
    healthy: bool | None = None,
    bounded: _Bounded = None,
    sort: _Sort = "attention",
    limit: _Limit = 200,
    cursor: _Cursor = None,
    along: _Along = None,
) -> Response:
    """List supervisors with state, lag and what comes next, from the leader's last passes.

    Worst first unless sorted.  No supervisor and no topic is looked at anew, so it may be polled.
    """
    wanted = ListFilter(
        text=q,
        states=frozenset(word.upper() for word in state or ()),
        data_source=data_source,
        topic=topic,
        healthy=healthy,
        bounded=bounded,
    )
    order = ListOrder.parse(sort)

    def may_read(table: str | None) -> bool:
        return asking.reads_all or asking.may_read(table or "")

    shown = parts.listing.page(may_read, wanted, order, limit, cursor)
    answer = supervisors_page(shown.page, shown.remedies, shown.running)
    if along:
        answer = answer.model_copy(update={"overview": parts.overviews.of(asking, ITEMS)})
    return answer_unless_known(request, known, answer)


@router.get(
    "/terminated",
    response_model=TerminatedPage,
    responses={304: {"description": "If-None-Match names this answer"}},
    dependencies=[needs(Permission.READ, LISTED)],
)
def list_terminated(
    request: Request,
    parts: Parts,
    asking: Asking,
    known: KnownTags,
    *,
    q: _PartOfEnded = None,
    data_source: _OfTable = None,
    limit: _Limit = 200,
    cursor: _Cursor = None,
) -> Response:
    """List terminated supervisors that are not forgotten: when, by whom and why; newest first.

    A rollback to `version` brings one back.
    """

    def may_read(table: str | None) -> bool:
        return asking.reads_all if table is None else asking.may_read(table)

    wanted = TerminatedFilter(q, data_source)
    page = terminated_supervisors(parts.store, may_read, wanted, limit, cursor)
    return answer_unless_known(request, known, page)
