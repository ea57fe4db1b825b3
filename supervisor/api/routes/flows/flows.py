"""Routes of flows: applied, listed, rolled back, deleted."""

from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Asking, Author, Document, Parts
from supervisor.api.http.preconditions import KnownTags, Precondition
from supervisor.api.routes.cluster.audit import Limit
from supervisor.core.flows.differences import differences
from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.stored import StoredFlow
from supervisor.core.planning.preconditions import ANY
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.access.applying import applying
from supervisor.services.access.ownership import Ownership
from supervisor.services.flows.flows import FlowAllowed, flow_tag
from supervisor.services.services import Services
from supervisor.services.steps.grants import check_steps
from supervisor.services.steps.literal_specs import check_specs
from supervisor.views.flows.flows import (
    AppliedFlowView,
    FlowDiffView,
    FlowPage,
    FlowVersionsPage,
    FlowVersionView,
    difference_view,
    flow_view,
)
from tasks.contract.wire import Wire

router = APIRouter(prefix="/api/v1/flows", tags=["flows"])

FLOW_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
FlowName = Annotated[str, Path(pattern=FLOW_NAME, description="Name of a flow.")]
Version = Annotated[int, Path(ge=1, le=2**31 - 1)]


FLOW_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "description": "A flow: its inputs, its steps, and what comes after them.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


class FlowCheck(Wire):
    """A flow that can be applied."""

    flow: str


def _allowed(asking: Caller, parts: Services) -> FlowAllowed:
    """Return the check of what a flow of the caller's may do."""
    steps = check_steps(asking, Ownership(parts.store))
    read = partial(parts.service.read, allowed=applying(asking))

    def check(flow: FlowDocument) -> None:
        steps(flow)
        check_specs(flow, read)

    return check


@router.post("", openapi_extra=FLOW_BODY, dependencies=[needs(Permission.FLOW_APPLY)])
def apply_flow(
    document: Document,
    author: Author,
    asking: Asking,
    parts: Parts,
    *,
    expected: Precondition,
    response: Response,
) -> AppliedFlowView:
    """Store a flow as the newest version, which runs with your grants; what runs keeps its own."""
    allowed = _allowed(asking, parts)
    flow, changed = parts.flows.apply(document, author, allowed, expected)
    response.headers["ETag"] = flow_tag(flow)
    return AppliedFlowView(flow=flow_view(flow), changed=changed)


@router.post("/validate", openapi_extra=FLOW_BODY, dependencies=[needs(Permission.READ)])
def validate_flow(document: Document, parts: Parts) -> FlowCheck:
    """Check a flow, and change nothing; whether its author may do all of it is not looked at."""
    flow = parts.flows.check(document)
    check_specs(flow, parts.service.read)
    return FlowCheck(flow=flow.flow)


@router.get("", dependencies=[needs(Permission.READ)])
def list_flows(
    parts: Parts,
    limit: Limit = 100,
    after: Annotated[str, Query(max_length=128, description="The `next` of the page before.")] = "",
) -> FlowPage:
    """List the newest version of each flow, by name."""
    flows = parts.flows.page(limit + 1, after)
    page = flows[:limit]
    behind = page[-1].name if len(flows) > limit else None
    return FlowPage(flows=[flow_view(each) for each in page], next=behind)


_UNCHANGED: dict[int | str, dict[str, object]] = {
    304: {"description": "If-None-Match names this version"}
}


@router.get(
    "/{flow}",
    response_model=FlowVersionView,
    responses=_UNCHANGED,
    dependencies=[needs(Permission.READ)],
)
def get_flow(
    flow: FlowName, parts: Parts, known: KnownTags, response: Response
) -> FlowVersionView | Response:
    """Return the newest version of a flow, with its ETag."""
    return _unless_known(parts.flows.get(flow), known, response)


def _unless_known(
    flow: StoredFlow, known: frozenset[str], response: Response
) -> FlowVersionView | Response:
    tag = flow_tag(flow)
    if not known.isdisjoint({tag, ANY}):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return flow_view(flow)


@router.delete("/{flow}", dependencies=[needs(Permission.FLOW_APPLY)])
def delete_flow(
    flow: FlowName, author: Author, parts: Parts, expected: Precondition
) -> FlowVersionView:
    """Delete a flow: nothing starts it any more, what runs goes on, and its versions stay."""
    return flow_view(parts.flows.delete(flow, author, expected))


@router.get("/{flow}/diff", dependencies=[needs(Permission.READ)])
def diff_flow(
    flow: FlowName,
    parts: Parts,
    old: Annotated[
        int | None,
        Query(alias="from", ge=1, le=2**31 - 1, description="A version; none: that before `to`."),
    ] = None,
    new: Annotated[
        int | None, Query(alias="to", ge=1, le=2**31 - 1, description="A version; none: newest.")
    ] = None,
) -> FlowDiffView:
    """Return what differs between two versions of a flow; a tombstone has an empty document."""
    before, after = parts.flows.two_versions(flow, old, new)
    compared = differences(before.document, after.document)
    return FlowDiffView(
        flow=flow,
        old=before.version,
        new=after.version,
        differences=[difference_view(each) for each in compared],
    )


@router.get("/{flow}/versions", dependencies=[needs(Permission.READ)])
def list_flow_versions(
    flow: FlowName,
    parts: Parts,
    limit: Limit = 100,
    before: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description="The `next` of the page before.")
    ] = None,
) -> FlowVersionsPage:
    """List the versions of a flow, newest first; of a deleted one, too."""
    versions = parts.flows.versions(flow, limit + 1, before)
    page = versions[:limit]
    behind = page[-1].version if len(versions) > limit else None
    return FlowVersionsPage(versions=[flow_view(each) for each in page], next=behind)


@router.get(
    "/{flow}/versions/{version}",
    response_model=FlowVersionView,
    responses=_UNCHANGED,
    dependencies=[needs(Permission.READ)],
)
def get_flow_version(
    flow: FlowName, version: Version, parts: Parts, *, known: KnownTags, response: Response
) -> FlowVersionView | Response:
    """Return one version of a flow, with its ETag."""
    return _unless_known(parts.flows.version(flow, version), known, response)


@router.post("/{flow}/versions/{version}/rollback", dependencies=[needs(Permission.FLOW_APPLY)])
def roll_back_flow(
    flow: FlowName,
    version: Version,
    author: Author,
    asking: Asking,
    parts: Parts,
    *,
    expected: Precondition,
    response: Response,
) -> AppliedFlowView:
    """Store the document of an earlier version as the newest one, which runs with your grants."""
    allowed = _allowed(asking, parts)
    stored, changed = parts.flows.roll_back(flow, version, author, allowed, expected=expected)
    response.headers["ETag"] = flow_tag(stored)
    return AppliedFlowView(flow=flow_view(stored), changed=changed)
