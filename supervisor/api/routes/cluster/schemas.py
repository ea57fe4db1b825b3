"""The JSON Schemas of specs and flows, from which forms and editors are made."""

import json
from functools import cache

from fastapi import APIRouter, Request, Response

from supervisor.api.http.access import needs
from supervisor.api.http.conditional import answer_bytes_unless_known
from supervisor.api.http.preconditions import KnownTags
from supervisor.core.flows.json_schema import flow_schema
from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.values.permissions import Permission

router = APIRouter(prefix="/api/v1/schemas", tags=["cluster"])


@router.get(
    "/supervisor-spec",
    response_model=dict[str, object],
    responses={304: {"description": "If-None-Match names this answer"}},
    dependencies=[needs(Permission.SIGNED_IN)],
)
def get_spec_schema(request: Request, known: KnownTags) -> Response:
    """Return the JSON Schema of a spec, with title, default, effect and unit of each field.

    `x-tidegate-effect` says what a change of the field disturbs, `x-tidegate-origin` whether Druid
    has it too, `x-tidegate-doc` where the documentation describes it.  It changes with a release.
    """
    return answer_bytes_unless_known(request, known, _spec())


@router.get(
    "/flow",
    response_model=dict[str, object],
    responses={304: {"description": "If-None-Match names this answer"}},
    dependencies=[needs(Permission.SIGNED_IN)],
)
def get_flow_schema(request: Request, known: KnownTags) -> Response:
    """Return the JSON Schema of a flow, with the fields of each type of step and of trigger.

    It changes with a release.
    """
    return answer_bytes_unless_known(request, known, _flow())


@cache
def _spec() -> bytes:
    return json.dumps(spec_schema()).encode()


@cache
def _flow() -> bytes:
    return json.dumps(flow_schema()).encode()
