"""Idempotency-Key middleware for every action of the public API.

It comes after authentication and after the body is read whole.  An answer is stored before it is
sent.  Answers that say nothing about the action are not stored: 5xx, a redirect to the leader, and
a refused caller.
"""

from http import HTTPStatus

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from supervisor.api.http.edge import INTERNAL_PATH, is_hook, replayed
from supervisor.api.http.leader import KEY, note_claim, to_the_leader
from supervisor.api.http.problems import RETRY_AFTER_S, render_error
from supervisor.core.values.errors import (
    FieldError,
    InvalidRequest,
    KeyInUse,
    LeaseLost,
    SupervisorError,
)
from supervisor.core.values.idempotency import (
    KEY_CHARACTERS_MAX,
    KeyClaim,
    StoredAnswer,
    digest_of,
    is_key,
)
from supervisor.core.values.permissions import Caller
from supervisor.services.access.idempotency import Idempotency, KeyedRequest

log = structlog.get_logger()

HEADER = KEY
REPLAYED = "Idempotency-Replayed"
METHODS = frozenset({"POST", "PUT", "DELETE", "PATCH"})
CHANGES_NOTHING = frozenset(
    {
        "/api/v1/supervisors/validate",
        "/druid/indexer/v1/sampler",
        "/druid/indexer/v1/taskStatus",
        "/druid/indexer/v1/lockedIntervals/v2",
        "/api/v1/sessions",  # each login has a secret of its own, which no repeat is given
        "/api/v1/sessions/current",
    }
)
"""Requests that may be repeated as they are; so may every dry run."""
ANSWER_BYTES_MAX = 64 * 1024
"""The maximum size of a stored answer; a repeat of a larger one gets `idempotency-answer-lost`."""
_STORED_HEADERS = ("content-type", "etag", "location", "tidegate-operation", "allow", "retry-after")
_NOT_STORED = {
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.TOO_MANY_REQUESTS,
}


class OncePerKey:
    """Carries out a request with a key once, and gives its repeats the first answer."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _counts(request := Request(scope, receive)):
            await self._app(scope, receive, send)
            return
        keys: Idempotency = scope["app"].state.parts.keys
        try:
            body = await request.body()
            begun = await run_in_threadpool(keys.begin, _keyed_request(request, body))
        except SupervisorError as error:
            response = await _refused(request, error)
            await response(scope, receive, send)
            return
        note_claim(request)
        if isinstance(begun, StoredAnswer):
            headers = {**begun.headers, REPLAYED: "true"}
            await Response(begun.body, begun.status, headers)(scope, receive, send)
            return
        await self._act(keys, begun, scope, replayed(body, receive), send)

    async def _act(
        self, keys: Idempotency, claim: KeyClaim, scope: Scope, receive: Receive, send: Send
    ) -> None:
        heard = _HeldAnswer()
        try:
            with keys.acting_for(claim):
                await self._app(scope, receive, heard)
        except Exception:
            await _end(keys, claim, None)
            raise
        await _end(keys, claim, heard.answer())
        for message in heard.messages:
            await send(message)


class _HeldAnswer:
    """Holds an answer back until it is stored."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)

    def answer(self) -> StoredAnswer | None:
        """Return the answer to store; None: it is not stored."""
        start = next((m for m in self.messages if m["type"] == "http.response.start"), None)
        if start is None:  # the client has left
            return None
        status: int = start["status"]
        body = b"".join(m.get("body", b"") for m in self.messages)
        headers = {
            name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]
        }
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _NOT_STORED:
            return None
        if len(body) > ANSWER_BYTES_MAX:
            return None
        return StoredAnswer(
            status, {name: headers[name] for name in _STORED_HEADERS if name in headers}, body
        )


async def _end(keys: Idempotency, claim: KeyClaim, answer: StoredAnswer | None) -> None:
    try:
        await run_in_threadpool(keys.end, claim, answer)
    except SupervisorError as error:
        # The action is done, so its caller gets the answer; a repeat learns that the answer was
        # lost.
        log.warning("the answer to a key is not stored", key=claim.key, error=str(error))


def _counts(request: Request) -> bool:
    if request.method not in METHODS or HEADER not in request.headers or is_hook(request):
        return False  # a webhook's key counts beside its secret alone
    path, dry_run = request.scope["path"], request.query_params.get("dryRun", "").lower() == "true"
    return not (dry_run or path in CHANGES_NOTHING or path.startswith(INTERNAL_PATH))


def _keyed_request(request: Request, body: bytes) -> KeyedRequest:
    given = request.headers.getlist(HEADER)
    if len(given) != 1 or not is_key(given[0]):
        message = f"is not one key of 1 to {KEY_CHARACTERS_MAX} visible ASCII characters"
        hint = "a UUID does, drawn anew for each action"
        raise InvalidRequest([FieldError(f"/header/{HEADER}", message, hint)])
    caller: Caller = request.state.caller
    # The proved name, whatever the headers say; without authentication, the headers.
    claimed = (request.headers.get(name, "") for name in ("authorization", "x-druid-author"))
    who = claimed if caller.is_anyone else ("principal", caller.name)
    url = request.url
    what = (request.method.encode(), url.path.encode(), url.query.encode(), body)
    return KeyedRequest(digest_of(*(name.encode() for name in who)), given[0], digest_of(*what))


async def _refused(request: Request, error: SupervisorError) -> Response:
    if isinstance(error, LeaseLost):
        return await to_the_leader(request, error)
    response = render_error(request, error)
    if isinstance(error, KeyInUse):
        response.headers["Retry-After"] = RETRY_AFTER_S
    return response
