"""Druid's supervisor routes.  Source: Druid 33's API reference."""

import json
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from supervisor.api.http.access import (
    HISTORY,
    LISTED,
    SPEC,
    SUPERVISOR,
    SUPERVISOR_EVER,
    needs,
)
from supervisor.api.http.deps import Asking, Author, Document, Parts
from supervisor.api.http.preconditions import Precondition
from supervisor.api.routes.supervisors.operations import named
from supervisor.core.planning.impact import Restarts
from supervisor.core.planning.preconditions import etag_of
from supervisor.core.values.errors import SpecUnreadable
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.access.applying import applying
from supervisor.services.access.ownership import Ownership
from supervisor.services.supervisors.admission import Applied
from supervisor.services.supervisors.version_pages import (
    COUNT,
    COUNT_OF_EACH,
    MayRead,
    PageBounds,
    all_versions_page,
    version_page,
)
from supervisor.views.rows import SupervisorRow
from supervisor.views.status import SupervisorStatus
from supervisor.views.supervisors.dry_run import DryRunView, dry_run_view
from supervisor.views.supervisors.specs import (
    Health,
    HistoryRow,
    Posted,
    PostedChange,
    SupervisorLine,
)
from supervisor.views.tasks import ParseError, StatsLeaf

router = APIRouter(prefix="/druid/indexer/v1/supervisor", tags=["supervisors"])

SPEC_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "description": "A Kafka supervisor spec, as Druid's: nested, flat, or as GET answers it.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


DryRunParam = Annotated[
    bool,
    Query(alias="dryRun", description="Change nothing: answer what it would do, as validate does."),
]
Skip = Annotated[
    bool,
    Query(
        alias="skipRestartIfUnmodified",
        description="Druid's; here it is always so: a spec that says the same restarts nothing.",
    ),
]


@router.post(
    "",
    response_model_exclude_unset=True,
    openapi_extra=SPEC_BODY,
    dependencies=[needs(Permission.APPLY, SPEC)],
)
def post_spec(
    document: Document,
    author: Author,
    asking: Asking,
    parts: Parts,
    *,
    expected: Precondition,
    response: Response,
    dry_run: DryRunParam = False,
    skip_restart_if_unmodified: Skip = True,  # noqa: ARG001 -- it is always so
) -> Posted | DryRunView:
    """Create a supervisor, or give it a new spec version unless the newest says the same."""
    allowed = applying(asking)
    if dry_run:
        judged = parts.dry_run.judge(document, expected=expected, allowed=allowed)
        return dry_run_view(judged)
    done = parts.service.apply_spec(document, author, expected, allowed=allowed)
    return Posted.model_validate(posted(done, response))


def posted(done: Applied, response: Response) -> dict[str, object]:
    """Return the members of `Posted`, and set the headers that go with them.

    Empty members are left out.
    """
    if done.etag:
        response.headers["ETag"] = done.etag
    named(response, done.operation)
    changes = done.impact.changes.fields
    members: dict[str, object] = {
        "id": done.supervisor_id,
        "modified": done.modified,
        "restarted": done.impact.restarts is not Restarts.NONE,
        "version": done.version,
    }
    if changes:
        members["changes"] = [
            PostedChange(field=c.field, old=c.old, new=c.new, effect=c.effect) for c in changes
        ]
    if done.warnings:
        members["warnings"] = done.warnings
    if done.operation is not None:
        members["operation_id"] = done.operation
    return members


@router.get("", dependencies=[needs(Permission.READ, LISTED)])
def list_supervisors(
    parts: Parts,
    asking: Asking,
    *,
    full: bool = False,
    state: bool = False,
    system: bool = False,
) -> list[str] | list[dict[str, object]]:
    """List the ids, or rows: `full` with specs, `state` without, `system` with specs as text."""
    if not (full or state or system):
        if asking.reads_all:
            return parts.service.supervisor_ids()
        tables = Ownership(parts.store).of_supervisors()
        return [found for found, table in tables.items() if asking.may_read(table)]
    return [
        _row(row, full=full, system=system)
        for row in parts.supervisors.rows()
        if asking.reads_all or asking.may_read(row.spec.data_source or "")
    ]


def _row(row: SupervisorRow, *, full: bool, system: bool) -> dict[str, object]:
    line = SupervisorLine(
        id=row.id,
        data_source=row.spec.data_source,
        state=row.state.state,
        detailed_state=row.state.detailed,
        healthy=row.state.healthy,
        suspended=not isinstance(row.spec, SpecUnreadable) and row.spec.suspended,
    )
    members: dict[str, object] = line.model_dump()
    if isinstance(row.spec, SpecUnreadable):
        return members | {"why": row.state.why}
    if full:
        members["spec"] = row.spec.normalised()
    elif system:
        text = json.dumps(row.spec.normalised(), separators=(",", ":"))
        members |= {"type": row.spec.type, "source": row.spec.io_config.stream, "specString": text}
    return members


@router.get("/history", dependencies=[needs(Permission.READ, LISTED)])
def get_histories(
    parts: Parts,
    asking: Asking,
    response: Response,
    count: Annotated[
        int, Query(ge=1, description="At most so many versions of each supervisor.")
    ] = COUNT_OF_EACH,
    after: Annotated[str | None, Query(description="Only supervisors behind this id.")] = None,
) -> dict[str, list[HistoryRow]]:
    """Return the newest stored versions by id, a page of ids; terminated supervisors included.

    A page has 8 MiB.  The header Link names the next page (`rel="next"`); older versions are in the
    history of their supervisor.
    """
    page = all_versions_page(parts.store, _readable_by(asking), after=after, count=count)
    if page.after is not None:
        response.headers["Link"] = _next_page(
            f"{router.prefix}/history", count, "after", page.after
        )
    return page.pages


@router.get(
    "/{supervisor_id}",
    response_model=dict[str, object],
    responses={304: {"description": "If-None-Match names the newest version"}},
    dependencies=[needs(Permission.READ, SUPERVISOR)],
)
def get_spec(supervisor_id: str, parts: Parts, expected: Precondition) -> Response:
    """Return the newest spec with its defaults written out, and its version as ETag."""
    newest, spec = parts.service.newest(supervisor_id)
    headers = {"ETag": etag_of(newest)}
    if expected.knows(newest):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return JSONResponse(spec.normalised(), headers=headers)


@router.get(
    "/{supervisor_id}/status",
    response_model_exclude_unset=True,
    dependencies=[needs(Permission.READ, SUPERVISOR)],
)
def get_status(supervisor_id: str, parts: Parts) -> SupervisorStatus:
    """Return state, tasks, offsets and lag of a supervisor, and the reason for its state."""
    return parts.supervisors.status(supervisor_id)


@router.get(
    "/{supervisor_id}/health",
    response_model=Health,
    responses={503: {"model": Health, "description": "Unhealthy"}},
    dependencies=[needs(Permission.READ, SUPERVISOR)],
)
def get_health(supervisor_id: str, parts: Parts) -> JSONResponse:
    """Answer 200 if the supervisor is healthy, 503 if not."""
    healthy = parts.supervisors.state(supervisor_id).healthy
    status = HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE
    return JSONResponse({"healthy": healthy}, status)


@router.get("/{supervisor_id}/stats", dependencies=[needs(Permission.READ, SUPERVISOR)])
def get_stats(supervisor_id: str, parts: Parts) -> dict[str, dict[str, StatsLeaf]]:
    """Return group -> task -> counters of the live tasks, and how fast they grow."""
    return parts.supervisors.stats(supervisor_id)


@router.get("/{supervisor_id}/parseErrors", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def get_parse_errors(supervisor_id: str, parts: Parts) -> list[ParseError]:
    """Return samples of the records that became no row, newest first."""
    return parts.supervisors.parse_errors(supervisor_id)


@router.get("/{supervisor_id}/history", dependencies=[needs(Permission.READ, HISTORY)])
def get_history(
    supervisor_id: str,
    parts: Parts,
    asking: Asking,
    response: Response,
    *,
    count: Annotated[
        int, Query(ge=1, description="At most so many; fewer if they have more than 8 MiB.")
    ] = COUNT,
    before: Annotated[
        int | None, Query(ge=1, description="Only versions before this number.")
    ] = None,
) -> list[HistoryRow]:
    """Return the stored versions, newest first, page by page.

    The header Link names the next page (`rel="next"`); it is absent on the last one.
    """
    bounds = PageBounds(count)
    may_read = _readable_by(asking)
    page = version_page(parts.store, supervisor_id, may_read, before=before, bounds=bounds)
    if page.before is not None:
        path = f"{router.prefix}/{quote(supervisor_id, safe='')}/history"
        response.headers["Link"] = _next_page(path, count, "before", str(page.before))
    return page.rows


def _readable_by(asking: Caller) -> MayRead:
    return lambda table: asking.reads_all if table is None else asking.may_read(table)


def _next_page(path: str, count: int, name: str, place: str) -> str:
    """Return the header of the next page.  Source: RFC 8288."""
    return f'<{path}?{urlencode({"count": count, name: place})}>; rel="next"'
