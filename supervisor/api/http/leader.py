"""Requests on a follower that only the leader can answer (P4, D5, D6).

    reads of soft state       ──► passed on to the leader, whose answer is returned
    writes with a key         ──► passed on as well: a repeat with the key acts once
    writes of the console     ──► 503 with the leader's address: a browser may not follow there
    other writes              ──► 307 with the leader's address: nothing was carried out here
    a worker's calls          ──► 503 with the leader's address for workers, which they follow
    no leader                 ──► 503 with Retry-After

A write without a key is redirected and not passed on.  If the answer of one that is passed on were
lost, nobody would know whether the leader carried it out, and a retry might do it twice.  With a
key the leader knows.
"""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote

import httpx
import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from supervisor.api.http.console import is_console, passed_on
from supervisor.api.http.edge import HOOK_HEADERS, INTERNAL_PATH, is_hook
from supervisor.api.http.problems import PROBLEMS, answer, render_error
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.services.services import Services

log = structlog.get_logger()

KEY = "Idempotency-Key"
PASSED_ON = "X-Tidegate-Passed-On"
"""The header of a request that is passed on, so that two overlords cannot do so in a circle."""
CONNECT_S = 0.5
ANSWER_S = 5.0
ACT_S = 30.0
"""How long the leader may take for a change: it may have to ask Kafka for offsets first."""
_READS = frozenset({"GET", "HEAD"})
_SENT = ("accept", "authorization", "if-none-match", "x-druid-author")
_SENT_OF_HOOKS = tuple(name.lower() for name in HOOK_HEADERS)
_SENT_OF_WRITES = (*_SENT, KEY.lower(), "content-type", "if-match", *_SENT_OF_HOOKS)
_RETURNED = (
    *("content-type", "retry-after", "etag", "location", "allow"),
    *("cache-control", "content-disposition", "content-encoding", "vary"),
    *("tidegate-operation", "idempotency-replayed"),
)


async def to_the_leader(request: Request, error: Exception) -> Response:
    """Answer a request that was refused because another overlord leads."""
    assert isinstance(error, LeaseLost)
    if error.leader is None or PASSED_ON in request.headers:
        return render_error(request, error)
    if request.scope["path"].startswith(INTERNAL_PATH):
        address = await run_in_threadpool(_for_workers, request.app.state.parts, error.leader)
        return render_error(request, LeaseLost(str(error), address))
    there = error.leader.rstrip("/") + _as_sent(request)
    is_read = request.method in _READS
    if not (is_read or _acts_once(request)):
        if is_console(request):
            return render_error(request, error)
        return _redirected(request, error, there)
    try:
        return await (_read(request, there) if is_read else _acted(request, there))
    except httpx.HTTPError as trouble:
        log.warning("the leader did not answer", method=request.method, error=repr(trouble))
        return render_error(request, error)


def note_claim(request: Request) -> None:
    """Note that this overlord has claimed the key of a request, as the leader that it was then."""
    request.state.is_key_claimed = True


def _acts_once(request: Request) -> bool:
    """Tell whether a repeat of a change by the leader would not act a second time.

    A webhook is passed on as well: its sender follows no redirect.

    With a key that was claimed here it is the sender who repeats: this overlord may lead again, and
    would store the leader's answer as its own.
    """
    if is_hook(request):
        return True
    return KEY in request.headers and not getattr(request.state, "is_key_claimed", False)


def _as_sent(request: Request) -> str:
    """Return path and query as they were sent: the path that routes match is a decoded one."""
    path, query = quote(request.scope["path"], safe="/:"), request.url.query
    return f"{path}?{query}" if query else path


def _for_workers(parts: Services, leader: str) -> str:
    """Return the leader's address for workers; the public one if no other is known."""
    try:
        with parts.store.reading() as tx:
            lease = tx.lease.read()
    except SupervisorError as trouble:  # a worker that is given no hint tries each address
        log.warning("the leader's address for workers could not be read", error=str(trouble))
        return leader
    if lease is None or lease.url != leader:
        return leader
    return lease.address_for_workers or leader


def _redirected(request: Request, error: LeaseLost, there: str) -> Response:
    problem = PROBLEMS[LeaseLost]
    moved = type(problem)(HTTPStatus.TEMPORARY_REDIRECT, problem.slug, problem.title)
    return answer(
        moved,
        str(error),
        request.url.path,
        members={"leader": error.leader},
        headers={"Location": there},
    )


async def _read(request: Request, there: str) -> Response:
    return await _passed_on(request, there, _headers(request, there, _SENT), b"", ANSWER_S)


async def _acted(request: Request, there: str) -> Response:
    body: bytes = getattr(request.state, "body", b"")
    headers = _headers(request, there, _SENT_OF_WRITES)
    return await _passed_on(request, there, headers, body, ACT_S)


def _headers(request: Request, there: str, names: tuple[str, ...]) -> dict[str, str]:
    sent = {name: request.headers[name] for name in names if name in request.headers}
    own = {"X-Request-Id": str(request.state.request_id), PASSED_ON: "1"}
    # As the client takes it, and passed on as it comes: nothing is unpacked here.
    own["Accept-Encoding"] = request.headers.get("accept-encoding", "identity")
    return sent | own | passed_on(request, there)


async def _passed_on(
    request: Request, there: str, headers: Mapping[str, str], body: bytes, answer_s: float
) -> Response:
    timeout = httpx.Timeout(answer_s, connect=CONNECT_S)
    tls = request.app.state.parts.tls
    async with httpx.AsyncClient(timeout=timeout, trust_env=False, verify=tls) as client:
        sent = client.build_request(request.method, there, headers=headers, content=body or None)
        heard = await client.send(sent, stream=True)
        try:
            content = b"".join([piece async for piece in heard.aiter_raw()])
        finally:
            await heard.aclose()
    kept = {name: heard.headers[name] for name in _RETURNED if name in heard.headers}
    return Response(content, heard.status_code, kept)
