"""Routes of triggers: listed, paused, resumed, fired by hand, and the door of webhooks."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Request, Response

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.idempotency import HEADER
from supervisor.api.http.proofs import address_of
from supervisor.api.routes.flows.flows import FlowName
from supervisor.core.flows.stored_triggers import StoredTrigger
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.idempotency import KEY_CHARACTERS_MAX, is_key
from supervisor.core.values.permissions import Permission
from supervisor.services.flows.hooks import HookRequest
from supervisor.services.services import Services
from supervisor.views.flows.triggers import FiredView, TriggersView, TriggerView, trigger_view

router = APIRouter(prefix="/api/v1", tags=["flows"])

HOOK_BODY = {
    "requestBody": {
        "description": "The inputs, or what the trigger makes them of.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
TriggerName = Annotated[
    str, Path(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$", description="Name of a trigger.")
]


@router.get("/flows/{flow}/triggers", dependencies=[needs(Permission.READ)])
def list_triggers(flow: FlowName, parts: Parts) -> TriggersView:
    """List the triggers of a flow: when each has fired and fires next, and why it did not."""
    return TriggersView(triggers=[_view(each, parts) for each in parts.triggers.of_flow(flow)])


@router.post("/flows/{flow}/triggers/{trigger}/pause", dependencies=[needs(Permission.FLOW_RUN)])
def pause_trigger(
    flow: FlowName, trigger: TriggerName, author: Author, parts: Parts
) -> TriggerView:
    """Let a trigger fire no more; what comes meanwhile is passed by."""
    return _view(parts.triggers.pause(flow, trigger, author), parts)


@router.post("/flows/{flow}/triggers/{trigger}/resume", dependencies=[needs(Permission.FLOW_RUN)])
def resume_trigger(
    flow: FlowName, trigger: TriggerName, author: Author, parts: Parts
) -> TriggerView:
    """Let a trigger fire again, from now on."""
    return _view(parts.triggers.resume(flow, trigger, author), parts)


@router.post(
    "/flows/{flow}/triggers/{trigger}/fire",
    status_code=202,
    dependencies=[needs(Permission.FLOW_RUN)],
)
def fire_trigger(flow: FlowName, trigger: TriggerName, author: Author, parts: Parts) -> FiredView:
    """Start an execution now, as the trigger would; also of one that is paused."""
    return FiredView(execution=parts.triggers.fire(flow, trigger, author))


async def _hook(
    flow: FlowName,
    trigger: TriggerName,
    request: Request,
    *,
    x_tidegate_timestamp: Annotated[
        str, Header(max_length=20, description="When it was signed, in Unix seconds.")
    ] = "",
    x_tidegate_signature: Annotated[
        str,
        Header(
            max_length=200,
            description="`sha256=` and the HMAC-SHA256, in hex, of timestamp, dot and body.",
        ),
    ] = "",
    x_tidegate_hook_token: Annotated[
        str, Header(max_length=4_096, description="The secret, of a trigger with `auth: token`.")
    ] = "",
) -> HookRequest:
    """Take a request as it is: its bytes are what was signed."""
    keys = request.headers.getlist(HEADER)
    if len(keys) > 1 or not all(map(is_key, keys)):
        message = f"is not one key of 1 to {KEY_CHARACTERS_MAX} visible ASCII characters"
        raise InvalidRequest([FieldError(f"/header/{HEADER}", message, "a UUID does")])
    return HookRequest(
        flow=flow,
        trigger=trigger,
        body=await request.body(),
        address=address_of(request),
        timestamp=x_tidegate_timestamp,
        signature=x_tidegate_signature,
        token=x_tidegate_hook_token,
        key=keys[0] if keys else None,
    )


@router.post(
    "/hooks/{flow}/{trigger}",
    status_code=202,
    responses={200: {"model": FiredView, "description": "A request with this key has."}},
    openapi_extra=HOOK_BODY,
    dependencies=[needs(Permission.OPEN)],
)
def take_hook(
    asked: Annotated[HookRequest, Depends(_hook)], parts: Parts, response: Response
) -> FiredView:
    """Start an execution by a webhook; 200: a request with this key or signature has.

    The body is a JSON object of at most 256 KiB: the inputs, or what the trigger makes them of.
    """
    execution, is_new = parts.hooks.take(asked)
    if not is_new:
        response.status_code = 200
    return FiredView(execution=execution)


def _view(trigger: StoredTrigger, parts: Services) -> TriggerView:
    return trigger_view(trigger, parts.triggers.problem_of(trigger))
