"""Authentication middleware: finds the caller before a body is read or a route runs.

Passwords are proved a few at a time, and the number of waiting requests is bounded: a flood of
wrong passwords takes neither the routes' threads nor the process's memory.
"""

import base64
import binascii
from functools import partial

import anyio
import anyio.to_thread
import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from supervisor.api.http.access import printable_route
from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.api.http.edge import INTERNAL_PATH
from supervisor.api.http.problems import render_error
from supervisor.core.values.errors import (
    NotAllowed,
    SupervisorError,
    TooManyRequests,
    Unauthenticated,
)
from supervisor.core.values.permissions import ANYONE, UNKNOWN, Caller, Kind
from supervisor.services.access.authentication import Authentication, Credentials

LOOKS_AT_ONCE = 4
PROOFS_AT_ONCE = 2
PROOFS_WAITING_MAX = 16
CREDENTIALS_MAX = 4_096


class Authenticate:
    """Puts the caller into the request's state, or refuses the request."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the application."""
        self._app = app
        self._looks = anyio.CapacityLimiter(LOOKS_AT_ONCE)
        self._proofs = anyio.CapacityLimiter(PROOFS_AT_ONCE)
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        authentication: Authentication | None = scope["app"].state.parts.authentication
        try:
            if authentication is None:
                request.state.caller = ANYONE
            else:
                request.state.caller = await self._caller(request, authentication)
            structlog.contextvars.bind_contextvars(caller=request.state.caller.name or "anonymous")
        except SupervisorError as refused:
            await render_error(request, refused)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _caller(self, request: Request, authentication: Authentication) -> Caller:
        address = request.client.host if request.client else ""
        claimed: str | None = None
        try:
            credentials = _credentials(request)
            claimed = None if credentials is None else credentials.name
            caller = await self._proved(request, authentication, credentials, address)
            authentication.admit(caller)
            _require_place(request, caller)
        except (Unauthenticated, TooManyRequests, NotAllowed) as refused:
            what = f"{request.method} {printable_route(request)}"
            authentication.note(claimed, address, what, str(refused))
            raise
        return caller

    async def _proved(
        self,
        request: Request,
        authentication: Authentication,
        credentials: Credentials | None,
        address: str,
    ) -> Caller:
        if credentials is None:
            if request.scope["path"] in request.app.state.open_paths:
                return Caller(UNKNOWN.name, UNKNOWN.kind, address=address)
            header = WORKERS_HEADER if _is_internal(request) else "Authorization"
            raise Unauthenticated(f"say who you are: send a token in the header {header}")
        known = partial(authentication.known, credentials, address)
        caller = await anyio.to_thread.run_sync(known, limiter=self._looks)
        if caller is not None:
            return caller
        if self._waiting >= PROOFS_WAITING_MAX:
            raise TooManyRequests("too many passwords are being checked: try again", 1)
        self._waiting += 1
        try:
            prove = partial(authentication.prove, credentials, address)
            return await anyio.to_thread.run_sync(prove, limiter=self._proofs)
        finally:
            self._waiting -= 1


def _is_internal(request: Request) -> bool:
    path: str = request.scope["path"]  # `request.url` is made from the header Host as well
    return path.startswith(INTERNAL_PATH)


def _require_place(request: Request, caller: Caller) -> None:
    """Refuse a worker's token outside of a worker's calls, also on routes that do not exist."""
    if caller.kind is Kind.WORKER and not _is_internal(request):
        raise NotAllowed("a worker's token may do a worker's calls only")


def _credentials(request: Request) -> Credentials | None:
    """Return the credentials of a request; None: it has none.

    Raises:
        Unauthenticated: the header cannot be read.
    """
    if _is_internal(request):
        token = request.headers.get(WORKERS_HEADER, "").strip()
        return Credentials(None, token) if token else None
    given = request.headers.get("authorization")
    if given is None:
        return None
    scheme, _, rest = given.partition(" ")
    rest = rest.strip()
    if len(given) <= CREDENTIALS_MAX and rest:
        if scheme.lower() == "bearer":
            return Credentials(None, rest)
        if scheme.lower() == "basic":
            return _basic(rest)
    raise Unauthenticated("send Authorization: Bearer <token>, or Basic with name and password")


def _basic(encoded: str) -> Credentials:
    try:
        name, colon, password = (
            base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
        )
    except (binascii.Error, UnicodeDecodeError):
        raise Unauthenticated("the header Authorization is not base64 of UTF-8") from None
    if not colon or not name:
        raise Unauthenticated("the header Authorization holds no name:password")
    return Credentials(name, password)
