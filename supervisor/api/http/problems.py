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
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from supervisor.api.http.console import HEADER as CONSOLE
from supervisor.core.values.errors import (
    AlreadyInState,
    AnswerLost,
    ArtifactNotFound,
    BadCursor,
    CompactionNotFound,
    DataSourceNotFound,
    DowngradeRefused,
    EmptyEvent,
    EventTooLarge,
    ExecutionConflict,
    ExecutionNotFound,
    ExecutionStoreUnavailable,
    ExecutionTopicsUnavailable,
    ExportUnavailable,
    FailedEventNotFound,
    FieldError,
    FlowNotFound,
    InvalidFlow,
    InvalidInputs,
    InvalidOffsets,
    InvalidRequest,
    InvalidSpec,
    KeyInUse,
    KeyReused,
    KeyTakenOver,
    LeaseLost,
    LetterChanged,
    LetterNotFound,
    LetterUnusable,
    MetadataBusy,
    MetadataUnavailable,
    NoBackfill,
    NoExecutionTopics,
    NoHistory,
    NoReportStore,
    NotAllowed,
    NoTaskLog,
    NoTaskReports,
    NotExportable,
    NotExported,
    NotForgettable,
    NotOffered,
    NotReplayable,
    NoWorker,
    OperationNotFound,
    PersisterUnavailable,
    PersisterUnknown,
    PreconditionFailed,
    PreviewOutdated,
    PrincipalRefused,
    ProcessorClosed,
    QueueDead,
    QueueNotDead,
    QueueNotFound,
    RecordNotFound,
    Refused,
    ReportNotFound,
    ReportStoreUnavailable,
    RerunRefused,
    SampleFailed,
    SampleNotFound,
    SampleUnanswered,
    SchemaTooNew,
    SecretMissing,
    SegmentsMoved,
    SessionNotFound,
    SourceUnreadable,
    SpecUnreadable,
    StaleCommit,
    StateMoved,
    StepRefuses,
    StepVerbNotFound,
    StorageUnavailable,
    StreamUnavailable,
    SupervisorError,
    SupervisorNotFound,
    TaskExists,
    TaskNotFound,
    TooManyListeners,
    TooManyLooks,
    TooManyOutstandingBytes,
    TooManyRequests,
    TopicMissing,
    TriggerNotFound,
    Unauthenticated,
    Unavailable,
    UndecodableEvent,
    UnknownGroups,
    UnknownWord,
    UnusableFiles,
    VersionNotFound,
    WorkerFenced,
    WorkerNotFound,
    WorkerNotLost,
    WorkerUnavailable,
)
from tasks.contract.wire import Wire

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = "1"
ASK_WHO = 'Bearer realm="tidegate", Basic realm="tidegate", charset="UTF-8"'
ASK_CONSOLE = 'Bearer realm="tidegate"'
"""Without Basic, by which a browser would open a dialog of its own instead of the login page."""
SECURITY_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
)


@dataclass(frozen=True)
class Problem:
    """The form of one kind of error on the wire."""

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

    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})

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
        BadCursor: Problem(400, "bad-cursor", "This is no cursor of this list"),
        AnswerLost: Problem(409, "idempotency-answer-lost", "The answer to this key got lost"),
        CompactionNotFound: Problem(404, "compaction-not-found", "There is no such compaction"),
        DataSourceNotFound: Problem(404, "data-source-not-found", "There is no such table"),
        EmptyEvent: Problem(400, "empty-event", "An event says nothing"),
        EventTooLarge: Problem(400, "event-too-large", "An event is larger than its queue takes"),
        ExportUnavailable: Problem(
            503, "export-unavailable", "An exported table could not be read or written"
        ),
        FailedEventNotFound: Problem(404, "failed-event-not-found", "No such event is set aside"),
        InvalidOffsets: Problem(400, "invalid-offsets", "Reading cannot go on at these offsets"),
        InvalidRequest: Problem(400, "invalid-request", "The request is not acceptable"),
        InvalidSpec: Problem(400, "invalid-spec", "The spec is not acceptable"),
        KeyInUse: Problem(409, "idempotency-key-in-use", "The first request still runs"),
        KeyReused: Problem(422, "idempotency-key-reused", "The key stands for another request"),
        KeyTakenOver: Problem(409, "idempotency-key-taken-over", "A repeat acts in its place"),
        SpecUnreadable: Problem(503, "spec-unreadable", "Only another release can read the spec"),
        UnknownWord: Problem(503, "unknown-word", "Only a newer release can read a row"),
        LeaseLost: Problem(503, "not-the-leader", "Another overlord leads"),
        MetadataBusy: Problem(503, "metadata-busy", "The metadata database is busy"),
        MetadataUnavailable: Problem(
            503, "metadata-unavailable", "The metadata database does not answer"
        ),
        NoBackfill: Problem(400, "no-backfill", "Nothing can be backfilled here"),
        NoHistory: Problem(404, "no-history", "Nothing was ever stored under this id"),
        NotAllowed: Problem(403, "not-allowed", "The caller may not do this"),
        NoTaskLog: Problem(404, "no-task-log", "There is no log of this task"),
        NoReportStore: Problem(404, "no-report-store", "Nothing is stored here"),
        ReportNotFound: Problem(404, "report-not-found", "There is no such report"),
        LetterChanged: Problem(409, "letter-changed", "Another dead letter is there now"),
        LetterNotFound: Problem(404, "letter-not-found", "There is no such dead letter"),
        PersisterUnavailable: Problem(
            503, "persister-unavailable", "No persister answers, or it cannot now"
        ),
        PersisterUnknown: Problem(400, "persister-unknown", "The overlord knows no such persister"),
        ReportStoreUnavailable: Problem(
            503, "report-store-unavailable", "The store of reports does not answer"
        ),
        NoTaskReports: Problem(404, "no-task-reports", "Nothing is known of this task's work"),
        NotOffered: Problem(400, "not-offered", "Tidegate does not do this"),
        NotForgettable: Problem(409, "not-forgettable", "The supervisor still has work to do"),
        NoWorker: Problem(503, "no-worker", "No worker is connected"),
        NotReplayable: Problem(409, "not-replayable", "This event cannot be queued again"),
        NotExported: Problem(409, "not-exported", "The table is not exported in this format"),
        NotExportable: Problem(409, "not-exportable", "The table does not fit into the format"),
        OperationNotFound: Problem(404, "operation-not-found", "There is no such operation"),
        PreconditionFailed: Problem(412, "precondition-failed", "There is another version now"),
        PreviewOutdated: Problem(409, "preview-outdated", "It would do something else now"),
        PrincipalRefused: Problem(400, "principal-refused", "The principal is not acceptable"),
        ProcessorClosed: Problem(503, "queue-closed", "The event queue is closed here"),
        QueueDead: Problem(503, "event-queue-dead", "An event queue is damaged"),
        QueueNotDead: Problem(409, "queue-not-dead", "There is nothing to repair"),
        QueueNotFound: Problem(404, "queue-not-found", "There is no such event queue"),
        RecordNotFound: Problem(404, "record-not-found", "No such record is in quarantine"),
        Refused: Problem(400, "refused", "The request cannot be carried out"),
        SessionNotFound: Problem(404, "session-not-found", "There is no such session"),
        SampleFailed: Problem(400, "sample-failed", "The records could not be read"),
        SampleNotFound: Problem(404, "sample-not-found", "Nobody waits for this sample"),
        SampleUnanswered: Problem(503, "sample-unanswered", "The worker did not answer in time"),
        SecretMissing: Problem(400, "secret-missing", "The overlord has no such secret"),
        DowngradeRefused: Problem(409, "downgrade-refused", "The schema stays as it is"),
        SchemaTooNew: Problem(500, "schema-too-new", "A newer version owns the metadata"),
        SegmentsMoved: Problem(404, "segments-moved", "Segments are listed by table"),
        SourceUnreadable: Problem(400, "source-unreadable", "The topic cannot be read"),
        StaleCommit: Problem(409, "stale-commit", "The offsets have moved on"),
        StateMoved: Problem(409, "state-moved", "Somebody else was faster"),
        StorageUnavailable: Problem(503, "storage-unavailable", "The warehouse does not answer"),
        StreamUnavailable: Problem(503, "stream-unavailable", "Kafka does not answer"),
        SupervisorError: Problem(500, "internal", "The overlord failed"),
        SupervisorNotFound: Problem(404, "supervisor-not-found", "There is no such supervisor"),
        TaskExists: Problem(400, "task-exists", "The id is taken"),
        TaskNotFound: Problem(404, "task-not-found", "There is no such task"),
        TopicMissing: Problem(409, "topic-missing", "Kafka has no such topic"),
        TooManyListeners: Problem(503, "too-many-listeners", "Too many clients follow the events"),
        TooManyLooks: Problem(503, "too-many-looks", "Others look at topics already"),
        TooManyRequests: Problem(429, "too-many-requests", "The caller has to wait"),
        TooManyOutstandingBytes: Problem(
            503, "too-many-outstanding-bytes", "An event queue is too far behind"
        ),
        Unauthenticated: Problem(401, "unauthenticated", "The caller is not known"),
        Unavailable: Problem(503, "unavailable", "Something outside does not answer"),
        UndecodableEvent: Problem(
            400, "undecodable-event", "This is no event that this version knows"
        ),
        UnknownGroups: Problem(400, "unknown-groups", "There is no such task group"),
        UnusableFiles: Problem(400, "unusable-files", "The offered files do not fit the range"),
        InvalidFlow: Problem(400, "invalid-flow", "The flow is not acceptable"),
        InvalidInputs: Problem(400, "invalid-inputs", "The flow takes other inputs"),
        FlowNotFound: Problem(404, "flow-not-found", "There is no such flow"),
        TriggerNotFound: Problem(404, "trigger-not-found", "The flow has no such trigger"),
        ExecutionNotFound: Problem(404, "execution-not-found", "There is no such execution"),
        ArtifactNotFound: Problem(404, "artifact-not-found", "The execution has no such artifact"),
        StepVerbNotFound: Problem(404, "step-verb-not-found", "The overlord has no such verb"),
        ExecutionConflict: Problem(409, "execution-conflict", "Another execution has this id"),
        StepRefuses: Problem(409, "step-refuses", "It does not take this now"),
        RerunRefused: Problem(409, "rerun-refused", "It cannot be rerun in this way"),
        ExecutionStoreUnavailable: Problem(
            503, "execution-store-unavailable", "The database of executions cannot be used"
        ),
        ExecutionTopicsUnavailable: Problem(
            503, "execution-topics-unavailable", "The topics of executions cannot be used"
        ),
        NoExecutionTopics: Problem(404, "no-execution-topics", "Executions run in the database"),
        LetterUnusable: Problem(409, "letter-unusable", "The dead letter cannot be sent again"),
        WorkerNotFound: Problem(404, "worker-not-found", "There is no such worker"),
        WorkerNotLost: Problem(409, "worker-not-lost", "The worker is not gone for good"),
        VersionNotFound: Problem(404, "version-not-found", "There is no such version"),
        WorkerFenced: Problem(409, "worker-fenced", "A newer incarnation of the worker runs"),
        WorkerUnavailable: Problem(503, "worker-unavailable", "A worker does not answer"),
    }
)
"""Every class of the tree; `tests/supervisor/api/http/test_problems.py` proves it complete."""

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


def render_error(
    request: Request, error: Exception, more: Mapping[str, object] | None = None
) -> Response:
    """Answer an error of our tree; its public attributes and `more` are members, as JSON."""
    assert isinstance(error, SupervisorError)
    path = request.url.path
    accepts = request.headers.get("accept", "")
    by_druid = path.startswith("/druid/") and MEDIA_TYPE not in accepts
    if isinstance(error, _TEXT_LIKE_DRUID) and by_druid:
        return PlainTextResponse(str(error), HTTPStatus.NOT_FOUND)
    problem = next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)
    members = {to_camel(k): _plain(v) for k, v in vars(error).items() if not k.startswith("_")}
    members |= dict(more or {})
    return answer(
        problem,
        str(error),
        path,
        members=members,
        headers=_headers(request, problem, error),
    )


def _headers(request: Request, problem: Problem, error: SupervisorError) -> dict[str, str]:
    if isinstance(error, TooManyRequests):
        return {"Retry-After": str(error.retry_after_s)}
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": ASK_CONSOLE if CONSOLE in request.headers else ASK_WHO}
    later = problem.status == HTTPStatus.SERVICE_UNAVAILABLE
    return {"Retry-After": RETRY_AFTER_S} if later else {}


def _plain(value: object) -> object:
    """Return a fact as a JSON value."""
    if is_dataclass(value) and not isinstance(value, type):
        return {to_camel(k): _plain(v) for k, v in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def render_invalid(request: Request, error: Exception) -> Response:
    """Answer FastAPI's errors about parameters or body: 400, never 422."""
    assert isinstance(error, RequestValidationError)
    field_errors = [
        FieldError(_pointer(one["loc"]), str(one["msg"]), "/openapi.json says what is taken")
        for one in error.errors()
    ]
    return render_error(request, InvalidRequest(field_errors))


def _pointer(place: Sequence[str | int]) -> str:
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in place]
    if parts[:1] == ["body"]:
        parts = parts[1:]
    return "".join(f"/{part}" for part in parts)


def render_http(request: Request, error: Exception) -> Response:
    """Answer the router's errors: no such route, wrong method."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    slug = {404: "no-such-route", 405: "method-not-allowed"}.get(status, "http-error")
    detail = f"{request.method} {request.url.path}: {error.detail}"
    problem = Problem(status, slug, status.phrase)
    headers = dict(error.headers or {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = request.app.state.methods_of(request.scope["path"])
    return answer(problem, detail, request.url.path, headers=headers)


def render_bug(request: Request, error: Exception) -> Response:
    """Answer a bug with a plain 500: its details go to the log, not to the caller."""
    log.error("a request failed", method=request.method, path=request.url.path, exc_info=error)
    detail = "internal error: the overlord's log tells more"
    # This answer bypasses the middleware that adds these headers to all others.
    headers = {**SECURITY_HEADERS, "X-Request-Id": str(request.state.request_id)}
    return answer(INTERNAL, detail, request.url.path, headers=headers)
