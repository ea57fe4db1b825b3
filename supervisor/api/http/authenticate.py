"""Authentication middleware: finds the caller before a body is read or a route runs.

Authorization ──► a token, or name and password ─┐
else, of the console: the session's cookie ──────┴─► `Proofs` ──► caller
"""

import base64
import binascii

import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from supervisor.api.http.console import session_secret
from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.api.http.edge import INTERNAL_PATH, is_hook
from supervisor.api.http.problems import render_error
from supervisor.api.http.proofs import Proofs, address_of, note_refusal
from supervisor.core.values.errors import (
    NotAllowed,
    SupervisorError,
    TooManyRequests,
    Unauthenticated,
)
from supervisor.core.values.permissions import ANYONE, UNKNOWN, Caller, Kind
from supervisor.services.access.authentication import Authentication, Credentials

CREDENTIALS_MAX = 4_096


class Authenticate:
    """Puts the caller into the request's state, or refuses the request."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the application."""
        self._app = app
        self._proofs = Proofs()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        request.state.proofs = self._proofs  # a login is bounded like the header of a request
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
        claimed: str | None = None
        try:
            credentials = _credentials(request)
            claimed = None if credentials is None else credentials.name
            caller = await self._proved(request, authentication, credentials)
            authentication.admit(caller)
            _require_place(request, caller)
        except (Unauthenticated, TooManyRequests, NotAllowed) as refused:
            note_refusal(request, authentication, claimed, refused)
            raise
        return caller

    async def _proved(
        self, request: Request, authentication: Authentication, credentials: Credentials | None
    ) -> Caller:
        address = address_of(request)
        if credentials is not None:
            return await self._proofs.caller(authentication, credentials, address)
        is_open = request.scope["path"] in request.app.state.open_paths or is_hook(request)
        if is_open:  # a stale cookie does not matter
            return Caller(UNKNOWN.name, UNKNOWN.kind, address=address)
        if _is_internal(request):
            raise Unauthenticated(f"say who you are: send a token in the header {WORKERS_HEADER}")
        secret = session_secret(request)
        if secret is None:
            raise Unauthenticated("say who you are: send a token in the header Authorization")
        return await self._proofs.of_session(authentication, secret, address)


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
    if given is None or is_hook(request):
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
