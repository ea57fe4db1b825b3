"""Checks before any route: host names, origins and bodies; and headers for every answer.

Hosts: a page that has its own name resolve to this machine still sends that name (S20).  Origins: a
page of another site may not post here.  Bodies: JSON only, bounded, read whole before a route runs,
so that a slow or endless body costs a buffer and no thread (S18).

    caller and path                maximum size of a body
    ─────────────────────────────  ───────────────────────────────────────────────────────────────
    any                            SIZE_BYTES_MAX
    a webhook's                    HOOK_SIZE_BYTES_MAX
    below /internal/               INTERNAL_SIZE_BYTES_MAX
    a worker that publishes        PUBLISH_SIZE_BYTES_MAX; beyond the bound of the others one body
                                   is in memory at a time, from its first byte to the answer
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from http import HTTPStatus
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from supervisor.api.http.console import HEADER as CONSOLE
from supervisor.api.http.problems import SECURITY_HEADERS, Problem, answer
from supervisor.core.values.json_bodies import SIZE_BYTES_MAX
from supervisor.core.values.permissions import Caller, Permission
from tasks.runtime.host_names import LOOPBACK, without_port

BODY_TIMEOUT_S = 30.0
INTERNAL_PATH = "/internal/"
HOOKS_PATH = "/api/v1/hooks/"
"""Of requests that prove themselves by the secret of a trigger, and by nothing else."""
HOOK_HEADERS = ("X-Tidegate-Timestamp", "X-Tidegate-Signature", "X-Tidegate-Hook-Token")
HOOK_SIZE_BYTES_MAX = 256 * 1024
INTERNAL_SIZE_BYTES_MAX = 16 * 1024 * 1024
"""The maximum size of a worker's call: a sync has each task with its samples."""
PUBLISH_SIZE_BYTES_MAX = 128 * 1024 * 1024
"""The maximum size of a publish, which has each file with its spans: 1.3 million, such as 90 days
by hours of 600 partitions.  While Python parses a body, it takes several times this memory."""
HSTS = "max-age=31536000"
"""Sent over TLS only: without TLS, anybody on the way could have added it."""

HOST_REFUSED = Problem(403, "host-not-allowed", "This overlord does not go by that name")
ORIGIN_REFUSED = Problem(403, "cross-origin", "Another site may not do this")
NOT_JSON = Problem(415, "unsupported-media-type", "The body must be JSON")
TOO_LARGE = Problem(413, "body-too-large", "The body is too large")
TOO_SLOW = Problem(408, "body-too-slow", "The body did not come in time")
BAD_LENGTH = Problem(400, "bad-content-length", "Content-Length is no length")
NUL_REFUSED = Problem(400, "nul-in-address", "The address holds a NUL")
EDGE_PROBLEMS = (
    *(HOST_REFUSED, ORIGIN_REFUSED, NUL_REFUSED),
    *(NOT_JSON, TOO_LARGE, TOO_SLOW, BAD_LENGTH),
)

_PUBLISHES = re.compile(r"/internal/v1/(tasks|compactions)/[^/]+/publish")
_SAME_SITE = "same-origin"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class _Refusal(Exception):
    def __init__(self, problem: Problem, detail: str) -> None:
        super().__init__(detail)
        self.problem = problem


class _Gone(Exception):
    """The client left before its body was complete."""


class SecurityHeaders:
    """Adds the same headers to every answer; a route that sets one of them keeps its own."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if scope["scheme"] == "https":
                    headers.setdefault("Strict-Transport-Security", HSTS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class HostNames:
    """Lets requests through that name this overlord and come from its own pages, or from none."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str] = ()) -> None:
        """`hosts` are the names of this overlord for clients, beside loopback's."""
        self._app = app
        self._hosts = frozenset(name.lower() for name in (*LOOPBACK, *hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            self._check_names(request)
        except _Refusal as refused:
            response = answer(refused.problem, str(refused), request.url.path)
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_names(self, request: Request) -> None:
        host = request.headers.get("host", "").lower()
        if host not in self._hosts and without_port(host) not in self._hosts:
            raise _Refusal(
                HOST_REFUSED,
                f"Host {host[:100]!a} is not a name of this overlord: use one of its own, or "
                "have the operator allow it",
            )
        # No valid id or filter has a NUL, and PostgreSQL refuses one in text.
        if "\0" in request.scope["path"] or "%00" in request.url.query:
            raise _Refusal(NUL_REFUSED, "remove %00 from the path and the query")
        _check_origin(request, host)


def _check_origin(request: Request, host: str) -> None:
    """Refuse changes from another site; the console, which may send a cookie, reads as strictly."""
    origin, changes = request.headers.get("origin"), request.method not in _SAFE_METHODS
    console = CONSOLE in request.headers
    if console and changes and origin is None:  # a browser always sends it
        raise _Refusal(ORIGIN_REFUSED, "the console names its origin with each change")
    if console and request.headers.get("sec-fetch-site", _SAME_SITE) != _SAME_SITE:
        raise _Refusal(ORIGIN_REFUSED, "this overlord's own pages alone may ask as its console")
    if (changes or console) and origin is not None:
        try:
            same = urlsplit(origin).netloc.lower() == host
        except ValueError:
            same = False
        if not same:  # also with basic auth, which a browser adds by itself
            raise _Refusal(ORIGIN_REFUSED, f"origin {origin[:100]!a} is not this overlord's")


class Bodies:
    """Reads bodies whole, and lets bounded JSON through.

    The caller is known, because `Authenticate` comes first.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the application."""
        self._app = app
        self._large = anyio.CapacityLimiter(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        async with AsyncExitStack() as place:
            try:
                if _has_body(request):
                    _check_type(request)
                    body = await self._read(request, receive, place)
                    receive = replayed(body, receive)
                    if not _is_internal(request):  # for a follower, which may pass it on
                        request.state.body = body
                    del body
            except _Refusal as refused:
                response = answer(refused.problem, str(refused), request.url.path)
                await response(scope, receive, send)
                return
            except _Gone:
                return
            await self._app(scope, receive, send)

    async def _read(self, request: Request, receive: Receive, place: AsyncExitStack) -> bytes:
        """Return the body; `place` keeps the place of a large one until the answer."""
        size_bytes_max = _size_bytes_max(request)
        size_bytes = _declared_length(request, size_bytes_max)
        body, is_large = bytearray(), False
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                while True:
                    if not is_large and max(size_bytes, len(body)) > INTERNAL_SIZE_BYTES_MAX:
                        is_large = True
                        await place.enter_async_context(self._large)
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    body += message.get("body", b"")
                    if len(body) > size_bytes_max:
                        raise _too_large(size_bytes_max)
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise _Refusal(TOO_SLOW, f"the body did not come within {BODY_TIMEOUT_S:g} s") from None


def _is_internal(request: Request) -> bool:
    path: str = request.scope["path"]  # `request.url` is made from the header Host as well
    return path.startswith(INTERNAL_PATH)


def is_hook(request: Request) -> bool:
    """Whether a request is for a webhook."""
    path: str = request.scope["path"]
    return path.startswith(HOOKS_PATH)


def _has_body(request: Request) -> bool:
    chunked = "transfer-encoding" in request.headers
    return chunked or request.headers.get("content-length", "0") != "0"


def _check_type(request: Request) -> None:
    media, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "")
    if media.strip() != "application/json" or charset not in {"", "charset=utf-8"}:
        raise _Refusal(NOT_JSON, "send the header Content-Type: application/json")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise _Refusal(NOT_JSON, "send the body uncompressed, without Content-Encoding")


def _size_bytes_max(request: Request) -> int:
    if not _is_internal(request):
        return HOOK_SIZE_BYTES_MAX if is_hook(request) else SIZE_BYTES_MAX
    path: str = request.scope["path"]
    caller: Caller = request.state.caller
    if _PUBLISHES.fullmatch(path) and caller.may(Permission.WORK, None):
        return PUBLISH_SIZE_BYTES_MAX
    return INTERNAL_SIZE_BYTES_MAX


def _declared_length(request: Request, size_bytes_max: int) -> int:
    content_length = request.headers.get("content-length", "0")
    if not (content_length.isascii() and content_length.isdigit()):
        raise _Refusal(
            BAD_LENGTH, f"Content-Length {content_length[:40]!a} is not a number of bytes"
        )
    # Digits are counted first: a number of a million digits is slow to read.
    if len(content_length) > len(str(size_bytes_max)) or int(content_length) > size_bytes_max:
        raise _too_large(size_bytes_max)
    return int(content_length)


def _too_large(size_bytes_max: int) -> _Refusal:
    status = HTTPStatus(TOO_LARGE.status)
    return _Refusal(TOO_LARGE, f"{status.phrase}: at most {size_bytes_max} bytes are taken")


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the whole body first, then the further messages."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
