"""One table from errors to problems (RFC 9457), with the `error` member that Druid's clients read.

Two answers are text as Druid's: an unknown supervisor or task under Druid's paths, unless the
caller accepts problems.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from http import HTTPStatus
from types import MappingProxyType

import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from supervisor.core.errors import (
    AlreadyInState,
    FieldError,
    InvalidSpec,
    LeaseLost,
    MetadataBusy,
    MetadataUnavailable,
    NoHistory,
    NotAllowed,
    Refused,
    SchemaTooNew,
    StaleCommit,
    StateMoved,
    StreamUnavailable,
    SupervisorError,
    SupervisorNotFound,
    TaskNotFound,
    Unavailable,
    WorkerFenced,
    WorkerUnavailable,
)
from supervisor.publishing import UnusableFiles
from supervisor.views_files import DataSourceNotFound
from tasks.wire import Wire

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = "1"
SECURITY_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
)


class InvalidRequest(Refused):
    """Parameters or body do not have the form that the route takes."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        """Build the text from the errors."""
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.pointer or '/'}: {e.message}" for e in self.errors))


@dataclass(frozen=True)
class Problem:
    """What one kind of error is on the wire."""

    status: int
    slug: str
    title: str


class ProblemField(Wire):
    """One thing that is wrong: JSON pointer into the body, or `/query/name`."""

    pointer: str
    message: str
    hint: str


class ProblemDocument(Wire):
    """The body of every error; further members are the facts of its kind."""

    type: str = Field(examples=["/problems/invalid-spec"])
    title: str
    status: int
    detail: str
    instance: str
    error: str
    """The same as `detail`, under the name that Druid's clients read."""
    errors: list[ProblemField] | None = None
    leader: str | None = None


PROBLEMS: Mapping[type[SupervisorError], Problem] = MappingProxyType(
    {
        AlreadyInState: Problem(400, "already-in-state", "The supervisor is what it should become"),
        DataSourceNotFound: Problem(404, "data-source-not-found", "There is no such table"),
        InvalidRequest: Problem(400, "invalid-request", "The request is not acceptable"),
        InvalidSpec: Problem(400, "invalid-spec", "The spec is not acceptable"),
        LeaseLost: Problem(503, "not-the-leader", "Another overlord leads"),
        MetadataBusy: Problem(503, "metadata-busy", "The metadata database is busy"),
        MetadataUnavailable: Problem(
            503, "metadata-unavailable", "The metadata database does not answer"
        ),
        NoHistory: Problem(404, "no-history", "Nothing was ever stored under this id"),
        NotAllowed: Problem(403, "not-allowed", "The caller may not do this"),
        Refused: Problem(400, "refused", "The request cannot be carried out"),
        SchemaTooNew: Problem(500, "schema-too-new", "A newer version owns the metadata"),
        StaleCommit: Problem(409, "stale-commit", "The offsets have moved on"),
        StateMoved: Problem(409, "state-moved", "Somebody else was faster"),
        StreamUnavailable: Problem(503, "stream-unavailable", "Kafka does not answer"),
        SupervisorError: Problem(500, "internal", "The overlord failed"),
        SupervisorNotFound: Problem(404, "supervisor-not-found", "There is no such supervisor"),
        TaskNotFound: Problem(404, "task-not-found", "There is no such task"),
        Unavailable: Problem(503, "unavailable", "Something outside does not answer"),
        UnusableFiles: Problem(400, "unusable-files", "The offered files do not fit the range"),
        WorkerFenced: Problem(409, "worker-fenced", "A newer incarnation of the worker runs"),
        WorkerUnavailable: Problem(503, "worker-unavailable", "A worker does not answer"),
    }
)
"""Every class of the tree; `tests/api/test_problems.py` proves it complete."""

INTERNAL = PROBLEMS[SupervisorError]
_TEXT_LIKE_DRUID = (SupervisorNotFound, TaskNotFound)


def answer(
    problem: Problem,
    detail: str,
    path: str,
    *,
    members: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return a problem as it is sent; the standard members win over `members`."""
    body = dict(members or {}) | {
        "type": f"/problems/{problem.slug}",
        "title": problem.title,
        "status": problem.status,
        "detail": detail,
        "instance": path,
        "error": detail,
    }
    return JSONResponse(body, problem.status, headers, MEDIA_TYPE)


def render_error(request: Request, error: Exception) -> Response:
    """Answer an error of our tree; each public attribute is a member."""
    assert isinstance(error, SupervisorError)
    path = request.url.path
    accepts = request.headers.get("accept", "")
    by_druid = path.startswith("/druid/") and MEDIA_TYPE not in accepts
    if isinstance(error, _TEXT_LIKE_DRUID) and by_druid:
        return PlainTextResponse(str(error), HTTPStatus.NOT_FOUND)
    problem = next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)
    members = {to_camel(k): _plain(v) for k, v in vars(error).items() if not k.startswith("_")}
    later = problem.status == HTTPStatus.SERVICE_UNAVAILABLE
    return answer(
        problem,
        str(error),
        path,
        members=members,
        headers={"Retry-After": RETRY_AFTER_S} if later else None,
    )


def _plain(value: object) -> object:
    """Return a fact as JSON takes it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {to_camel(k): _plain(v) for k, v in asdict(value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def render_invalid(request: Request, error: Exception) -> Response:
    """Answer what FastAPI found wrong with parameters or body: 400, never 422."""
    assert isinstance(error, RequestValidationError)
    found = [
        FieldError(_pointer(one["loc"]), str(one["msg"]), "/openapi.json says what is taken")
        for one in error.errors()
    ]
    return render_error(request, InvalidRequest(found))


def _pointer(place: Sequence[str | int]) -> str:
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in place]
    if parts[:1] == ["body"]:
        parts = parts[1:]
    return "".join(f"/{part}" for part in parts)


def render_http(request: Request, error: Exception) -> Response:
    """Answer what the router refused: no such route, wrong method."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    slug = {404: "no-such-route", 405: "method-not-allowed"}.get(status, "http-error")
    detail = f"{request.method} {request.url.path}: {error.detail}"
    problem = Problem(status, slug, status.phrase)
    return answer(problem, detail, request.url.path, headers=error.headers)


def render_bug(request: Request, error: Exception) -> Response:
    """Answer a bug with a plain 500: what went wrong is for the log, not for the caller."""
    log.error("a request failed", method=request.method, path=request.url.path, exc_info=error)
    detail = "internal error: the overlord's log tells more"
    # Outside of the middleware that adds these to every other answer.
    return answer(INTERNAL, detail, request.url.path, headers=SECURITY_HEADERS)
