"""The route that follows an execution: its events as they come, until it has ended."""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.routes.cluster.events import (
    HEARTBEAT_S,
    KNOWN_S,
    RETRY_MS,
    EventResponse,
    LastEventId,
    event_id_of,
    wait_for_news,
)
from supervisor.api.routes.flows.executions import ExecutionId
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.values.errors import (
    ExecutionNotFound,
    FieldError,
    InvalidRequest,
    Unavailable,
)
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.services import Services
from supervisor.views.flows.executions import event_view

router = APIRouter(prefix="/api/v1/executions", tags=["flows"])

_PAGE = 500


@router.get(
    "/{execution}/events/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `id`, `event` (the name), `data` (as in the list)",
            "content": {"text/event-stream": {}},
        },
        204: {"description": "It has ended, and has no further event; do not connect again"},
    },
    dependencies=[needs(Permission.READ)],
)
async def stream_execution_events(
    execution: ExecutionId,
    parts: Parts,
    asking: Asking,
    *,
    after: Annotated[
        int, Query(ge=0, le=2**53, description="Begin behind this number; 0: all there is.")
    ] = 0,
    last_event_id: LastEventId = None,
) -> Response:
    """Follow an execution, from its first event or behind a number; it ends with the execution."""
    begin = after if last_event_id is None else event_id_of(last_event_id)
    current = await run_in_threadpool(parts.executions.get, execution)
    if begin > current.events:
        hint = "begin at a number from the list of events, or leave it out"
        message = f"the newest event is {current.events}"
        raise InvalidRequest([FieldError("/query/after", message, hint)])
    if current.state.ended and begin == current.events:
        return Response(status_code=204)  # a browser connects again to anything else
    feed = parts.executions.feed
    woken = feed.join(execution, asking.name)  # before the answer: it may be a 503
    stream = _server_sent_events(parts, asking, execution, begin, woken)
    return EventResponse(stream, partial(feed.leave, woken, execution, asking.name))


async def _server_sent_events(
    parts: Services, asking: Caller, execution: str, after: int, woken: asyncio.Event
) -> AsyncIterator[str]:
    clock = asyncio.get_running_loop().time
    yield f"retry: {RETRY_MS}\n\n"
    spoke = clock()
    until = math.inf if asking.is_anyone else clock() + KNOWN_S
    while not parts.changed.closed and clock() < until:
        woken.clear()  # before the look: a later event wakes us again
        try:
            events = await run_in_threadpool(parts.executions.events, execution, after, _PAGE)
        except ExecutionNotFound:
            return  # it has ended long ago, and is purged
        except Unavailable:
            events = []  # the database may come back; the heartbeat keeps the client
        for event in events:
            yield _event(event)
            spoke, after = clock(), event.number
        if events and events[-1].name == "execution-ended":
            return
        if len(events) == _PAGE:
            continue
        if clock() - spoke >= HEARTBEAT_S:
            yield ": still here\n\n"
            spoke = clock()
        await wait_for_news(woken)


def _event(event: ExecutionEvent) -> str:
    view = event_view(event)
    data = json.dumps(view.model_dump(mode="json", by_alias=True), separators=(",", ":"))
    return f"id: {view.number}\nevent: {view.name}\ndata: {data}\n\n"
