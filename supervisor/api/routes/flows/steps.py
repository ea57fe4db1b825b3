"""The route of executors: a verb of the product acts at the leader."""

import asyncio
import json
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import TypeVar, cast

import anyio
from fastapi import APIRouter, Request
from pydantic import JsonValue

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Parts
from supervisor.core.executions.records import (
    CALL_FORM,
    OUTCOME_FORM,
    NewerRecord,
    UnreadableRecord,
)
from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.errors import FieldError, InvalidRequest, Unavailable
from supervisor.core.values.permissions import Permission
from tasks.contract.wire import Wire

router = APIRouter(prefix="/internal/v1", tags=["workers"])

T = TypeVar("T")
AT_ONCE = 64
"""Calls that run at once; others wait.  A proof takes minutes, and no other route waits for it."""
LOOK_S = 0.5
"""Between two looks whether the executor is still there."""


class StepRequest(Wire):
    """A call of a step, as the topic `calls` has it."""

    call: dict[str, JsonValue]


class StepAnswer(Wire):
    """What came of the call; its `type` is `succeeded`, `fails`, `stopped` or `waits`."""

    outcome: dict[str, JsonValue]


@router.post("/steps", dependencies=[needs(Permission.WORK)])
async def make_step(body: StepRequest, request: Request, parts: Parts) -> StepAnswer:
    """Make a call, or a look, of a step; who leaves before the answer cancels it."""
    call, cancel = _call_of(body), Event()
    make = partial(parts.steps.make, call, cancel)
    outcome = await _in_thread(make, request, cancel)
    return StepAnswer(outcome=_document(OUTCOME_FORM.write(outcome)))


async def _in_thread(make: Callable[[], T], request: Request, cancel: Event) -> T:
    """Return what a call gives, made in a thread of its own."""
    limiter = cast("anyio.CapacityLimiter | None", getattr(request.app.state, "steps", None))
    if limiter is None:
        limiter = request.app.state.steps = anyio.CapacityLimiter(AT_ONCE)
    making = asyncio.create_task(anyio.to_thread.run_sync(make, limiter=limiter))
    while not making.done():
        await asyncio.wait({making}, timeout=LOOK_S)
        if not making.done() and await request.is_disconnected():
            cancel.set()
    return await making


def _call_of(body: StepRequest) -> StepCall:
    try:
        return CALL_FORM.read(json.dumps(body.call).encode())
    except UnreadableRecord as error:
        raise InvalidRequest([FieldError("/call", str(error))]) from None
    except NewerRecord as error:
        raise Unavailable(f"a newer release has made the call: {error}") from None


def _document(body: bytes) -> dict[str, JsonValue]:
    return cast("dict[str, JsonValue]", json.loads(body))
