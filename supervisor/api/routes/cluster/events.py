"""Routes of lifecycle events: a paged list, and an endless stream of server-sent events.

Last-Event-ID, ?after=      ──► stored events after it, page by page ──► new events
older than the table's      ──► from the archive; `trimmed` marks what is nowhere
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from supervisor.api.http.access import LISTED, Shown, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.windows import From, To, check_times
from supervisor.api.routes.cluster.audit import Cursor, Limit, Text
from supervisor.core.history.lifecycle_events import EventKind, NumberedEvent
from supervisor.core.history.windows import EventWindow
from supervisor.core.values.errors import FieldError, InvalidRequest, Unavailable
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.history.event_stream import EventStream, StoredEvents
from supervisor.services.services import Services
from supervisor.views.history import EventsPage, event_view

router = APIRouter(prefix="/api/v1/events", tags=["history"])

Kinds = Annotated[
    list[EventKind] | None,
    Query(alias="type", description="Of this type alone; may be repeated.", max_length=50),
]
HEARTBEAT_S = 15.0
"""The period of heartbeats: proxies and clients drop a silent connection; a comment is no event."""
LOOK_S = 1.0
"""The longest time until a stream ends once the process is to end."""
KNOWN_S = 600.0
"""The longest stream for an authenticated caller, who may be revoked meanwhile.  Clients reconnect
by themselves, and go on behind the last event."""
RETRY_MS = 1_000
ARCHIVE_WAIT_S = 30.0
"""How long a stream waits for an archive that does not answer, before it marks a hole."""
_ID_MAX = 2**63 - 1
_DIGITS_MAX = 18
LastEventId = Annotated[
    str | None,
    Header(
        description="The same, as browsers send it; it goes before `after`.",
        json_schema_extra={"pattern": f"^[0-9]{{1,{_DIGITS_MAX}}}$"},
    ),
]


@router.get("", dependencies=[needs(Permission.READ, LISTED)])
def list_events(
    parts: Parts,
    asking: Asking,
    *,
    supervisor: Text = None,
    kinds: Kinds = None,
    begin: From = None,
    end: To = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> EventsPage:
    """List events, newest first, optionally of one supervisor, of some types, or of a time.

    A page of some types or of a time may have less than `limit`, and still name a next page.
    """
    check_times(begin=begin, end=end)
    window = EventWindow(supervisor, _kinds(kinds), begin, end)
    page = parts.chronicle.events(limit, cursor, window)
    shown = Shown.to(asking, parts)
    events = [each for each in page.events if shown.event(each.supervisor_id, each.at)]
    return page.model_copy(update={"events": events})


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `id`, `event` (the type), `data` (as in the list)",
            "content": {"text/event-stream": {}},
        }
    },
    dependencies=[needs(Permission.READ, LISTED)],
)
async def stream_events(
    parts: Parts,
    asking: Asking,
    *,
    supervisor: Text = None,
    kinds: Kinds = None,
    after: Annotated[
        int | None, Query(ge=0, le=_ID_MAX, description="Begin behind this id; 0: all there is.")
    ] = None,
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    """Follow events, from an id or from now on, optionally of one supervisor or of some types."""
    window = EventWindow(supervisor, _kinds(kinds))
    wanted = after if last_event_id is None else event_id_of(last_event_id)
    newest = (await run_in_threadpool(parts.chronicle.feed.stored, _ID_MAX)).newest
    begin = newest if wanted is None else wanted
    if begin > newest:
        hint = "begin at an id from the list of events, or leave it out"
        raise InvalidRequest([FieldError("/query/after", f"the newest event is {newest}", hint)])
    listener = _Listener(parts.chronicle.feed, asking.name)  # before the answer: it may be a 503
    stream = _server_sent_events(parts, asking, begin, window, listener.woken)
    return EventResponse(stream, listener.leave)


class _Listener:
    """A place among the listeners, from now until it is given back."""

    def __init__(self, feed: EventStream, caller: str) -> None:
        self._feed, self._caller = feed, caller
        self.woken = feed.join(caller)

    def leave(self) -> None:
        self._feed.leave(self.woken, self._caller)


class EventResponse(StreamingResponse):
    """A stream that gives its place back however it ends, also before its first event."""

    def __init__(self, stream: AsyncIterator[str], leave: Callable[[], None]) -> None:
        """`leave` gives the place back."""
        headers = {"X-Accel-Buffering": "no"}  # a buffering proxy would hold events back
        super().__init__(stream, media_type="text/event-stream", headers=headers)
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


def _kinds(words: Sequence[EventKind] | None) -> frozenset[EventKind]:
    """Return the types; the word for types of a newer release is none."""
    if EventKind.UNKNOWN in (words or ()):
        hint = "one that docs/reference/events.md lists"
        raise InvalidRequest([FieldError("/query/type", "unknown is no type of its own", hint)])
    return frozenset(words or ())


def event_id_of(text: str) -> int:
    """Read the header Last-Event-ID.

    Raises:
        InvalidRequest: it is no number.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
        raise InvalidRequest([FieldError("/header/Last-Event-ID", "is no id of an event", "17")])
    return int(text)


async def _server_sent_events(
    parts: Services,
    asking: Caller,
    after: int,
    window: EventWindow,
    woken: asyncio.Event,
) -> AsyncIterator[str]:
    """Yield what happens behind a number."""
    clock = asyncio.get_running_loop().time
    yield f"retry: {RETRY_MS}\n\n"
    spoke, waits_since = clock(), math.inf
    until = math.inf if asking.is_anyone else clock() + KNOWN_S
    while not parts.changed.closed and clock() < until:
        woken.clear()  # before the look: a later event wakes us again
        page = await _next_rows(parts, after)
        waits_since = min(waits_since, clock()) if page.away else math.inf
        if page.away and clock() - waits_since >= ARCHIVE_WAIT_S:
            yield _trimmed(after, page.trimmed, page.away)
            after = page.trimmed
            continue
        shown = await _shown(parts, asking, page.rows)
        if shown is None:
            await wait_for_news(woken)
            continue
        mine = {row.number for row in shown if window.admits(row.happening)}
        for row in page.rows:
            if row.number > after + 1:
                yield _trimmed(after, row.number - 1)
            if row.number in mine:
                yield _event(row)
                spoke = clock()
            after = row.number
        if page.rows:
            continue
        if clock() - spoke >= HEARTBEAT_S:
            yield ": still here\n\n"
            spoke = clock()
        await wait_for_news(woken)


async def _shown(
    parts: Services, asking: Caller, rows: list[NumberedEvent]
) -> list[NumberedEvent] | None:
    """Return the caller's events; None: the database does not answer at the moment."""
    if asking.reads_all:
        return rows
    may = Shown.to(asking, parts)

    def look() -> list[NumberedEvent]:
        facts = ((row, row.happening) for row in rows)
        return [row for row, fact in facts if may.event(fact.supervisor_id, fact.at)]

    try:
        return await run_in_threadpool(look)
    except Unavailable:
        return None


async def _next_rows(parts: Services, after: int) -> StoredEvents:
    """Return the next events; a hole before them is one that the caller has to hear of."""
    feed = parts.chronicle.feed
    if (known := feed.remembered(after)) is not None:
        return StoredEvents(known, 0, after)
    try:
        return await run_in_threadpool(feed.stored, after)
    except Unavailable:
        # The database may come back; the heartbeat keeps the client.
        return StoredEvents([], 0, after)


async def wait_for_news(woken: asyncio.Event) -> None:
    """Wait until there is news, or it is time to see whether the process ends."""
    try:
        async with asyncio.timeout(LOOK_S):
            await woken.wait()
    except TimeoutError:
        return


def _event(row: NumberedEvent) -> str:
    view = event_view(row)
    return f"id: {view.id}\nevent: {view.type.value}\ndata: {view.model_dump_json()}\n\n"


def _trimmed(after: int, trimmed: int, why: str = "") -> str:
    members: dict[str, int | str] = {"from": after + 1, "to": trimmed}
    data = json.dumps(members | ({"why": why} if why else {}), separators=(",", ":"))
    return f"id: {trimmed}\nevent: trimmed\ndata: {data}\n\n"
