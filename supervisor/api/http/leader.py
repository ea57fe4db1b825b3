"""Requests on a follower that only the leader can answer (P4, D5, D6).

    reads of soft state ──► forwarded to the leader, whose answer is passed on
    writes              ──► 307 with the leader's address: nothing was carried out here
    a worker's calls    ──► 503 with the leader's address for workers, which they follow
    no leader           ──► 503 with Retry-After

A write is redirected and not forwarded.  If the answer of a forwarded write were lost, nobody would
know whether the leader carried it out, and a retry might do it twice.
"""

from http import HTTPStatus

import httpx
import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from supervisor.api.http.console import passed_on
from supervisor.api.http.edge import INTERNAL_PATH
from supervisor.api.http.problems import PROBLEMS, answer, render_error
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.services.services import Services

log = structlog.get_logger()

PASSED_ON = "X-Tidegate-Passed-On"
"""The header of a forwarded read, so that two overlords cannot forward it in a circle."""
CONNECT_S = 0.5
ANSWER_S = 5.0
_READS = frozenset({"GET", "HEAD"})
_FORWARDED_HEADERS = ("accept", "authorization", "if-none-match", "x-druid-author")
_RETURNED_HEADERS = (
    "cache-control",
    "content-encoding",
    "content-type",
    "etag",
    "retry-after",
    "vary",
)


async def to_the_leader(request: Request, error: Exception) -> Response:
    """Answer a request that was refused because another overlord leads."""
    assert isinstance(error, LeaseLost)
    if error.leader is None or PASSED_ON in request.headers:
        return render_error(request, error)
    if request.scope["path"].startswith(INTERNAL_PATH):
        address = await run_in_threadpool(_for_workers, request.app.state.parts, error.leader)
        return render_error(request, LeaseLost(str(error), address))
    there = error.leader.rstrip("/") + request.url.path
    if request.url.query:
        there += f"?{request.url.query}"
    if request.method not in _READS:
        return _redirected(request, error, there)
    try:
        return await _forwarded(request, there)
    except httpx.HTTPError as trouble:
        log.warning("the leader did not answer a read", url=there, error=repr(trouble))
        return render_error(request, error)


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


async def _forwarded(request: Request, there: str) -> Response:
    headers = {
        name: request.headers[name] for name in _FORWARDED_HEADERS if name in request.headers
    }
    headers["X-Request-Id"] = request.state.request_id
    # As the client takes it, and passed on as it comes: nothing is unpacked here.
    headers["Accept-Encoding"] = request.headers.get("accept-encoding", "identity")
    headers |= passed_on(request, there)
    timeout = httpx.Timeout(ANSWER_S, connect=CONNECT_S)
    tls = request.app.state.parts.tls
    async with httpx.AsyncClient(timeout=timeout, trust_env=False, verify=tls) as client:
        forwarded = client.build_request(request.method, there, headers=headers | {PASSED_ON: "1"})
        heard = await client.send(forwarded, stream=True)
        try:
            content = b"".join([piece async for piece in heard.aiter_raw()])
        finally:
            await heard.aclose()
    kept = {name: heard.headers[name] for name in _RETURNED_HEADERS if name in heard.headers}
    return Response(content, heard.status_code, kept)
