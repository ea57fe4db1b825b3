"""Request middleware: the request id, the log fields, the count and the duration.

    X-Request-Id, if it is well-formed ─► fields of the log ─► X-Request-Id of the answer

It is the outermost middleware, so that requests refused at the edge are counted too.
"""

import re
import time
import uuid

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from supervisor.api.http.edge import INTERNAL_PATH

log = structlog.get_logger()

HEADER = "X-Request-Id"
REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
"""The form of a caller's id; any other id is replaced, because ids are written into the log."""
_BUG = 500
_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Requests:
    """Gives requests an id, and counts and times them."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        began, status = time.monotonic(), _BUG

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])  # a made-up method would be written into the log
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            seconds = time.monotonic() - began
            route = _route(scope)
            scope["app"].state.parts.meters.request(route, scope["method"], status, seconds)
            if _is_logged(scope, status):
                facts = {"method": scope["method"], "route": route, "status": status}
                log.info("request", **facts, ms=round(seconds * 1_000))


def _request_id(scope: Scope) -> str:
    given = Headers(scope=scope).get(HEADER, "")
    return given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def _route(scope: Scope) -> str | None:
    """Return the path template of the matched route."""
    path = getattr(scope.get("route"), "path_format", None)
    return path if isinstance(path, str) else None


def _is_logged(scope: Scope, status: int) -> bool:
    """Whether a request is logged: it changes something, or it failed on our side."""
    if status >= _BUG:
        return True
    return scope["method"] in _CHANGES and not scope["path"].startswith(INTERNAL_PATH)
