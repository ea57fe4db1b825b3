"""The problem responses of each operation in the OpenAPI document.

    every operation          400 401 403 429 503
    one with a path of ids   404      (as text too, where Druid answers so)
    one that acts            408 409 413 415; and 307 422 where people call it, not workers
    one with If-Match        412

A 500 is a bug and is not described.  A 405 belongs to no operation, and a 421 to the port of other
callers.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import cast

from supervisor.api.http.access import EXTENSION
from supervisor.api.http.edge import INTERNAL_PATH
from supervisor.api.http.idempotency import METHODS
from supervisor.api.http.problems import MEDIA_TYPE

Json = dict[str, object]
_REF = "#/components/responses/"
_PROBLEM: Json = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
_TEXT: Json = {"schema": {"type": "string"}}
_LATER: Json = {
    "Retry-After": {
        "description": "Seconds.",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
    }
}
_MAYBE_LATER: Json = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
_CHALLENGE_HEADER: Json = {
    "WWW-Authenticate": {
        "description": "How to say who one is.",
        "required": True,
        "schema": {"type": "string"},
    }
}
_MOVED: Json = {
    "Location": {
        "description": "The same at the leader's address.",
        "required": True,
        "schema": {"type": "string"},
    }
}


def _problem(description: str, headers: Json | None = None) -> Json:
    return {
        "description": description,
        "content": {MEDIA_TYPE: _PROBLEM},
        **({"headers": headers} if headers else {}),
    }


ANSWERS: Mapping[str, Json] = MappingProxyType(
    {
        "307": _problem("Another overlord leads: nothing was done here.", _MOVED),
        "400": _problem("What was sent is not acceptable; `detail` and `errors` say what."),
        "401": _problem("The caller is not known.", _CHALLENGE_HEADER),
        "403": _problem("The caller may not do this, or the name or origin is not allowed."),
        "404": _problem("There is no such thing, or none that the caller may see."),
        "408": _problem("The body did not come in time."),
        "409": _problem("It cannot be done as things stand.", _MAYBE_LATER),
        "412": _problem("The newest version of the spec or the flow is another one."),
        "413": _problem("The body is too large."),
        "415": _problem("The body is not JSON, or is compressed."),
        "422": _problem("The Idempotency-Key belongs to another request."),
        "429": _problem("The caller has to wait.", _LATER),
        "503": _problem("A part that the request needs is away, or no overlord leads.", _LATER),
    }
)
"""Status -> response."""
_EVERY = ("400", "401", "403", "429", "503")
_ACTS = ("408", "409", "413", "415")
_ACTS_IN_PUBLIC = ("307", "422")
_TEXT_SCOPES = frozenset({"supervisor", "supervisor-ever", "task"})
_DRUID = "/druid/"
_V1 = "/druid/indexer/v1"
_ONE = f"{_V1}/supervisor/{{supervisor_id}}"
_REFUSING = frozenset(
    {f"POST {_V1}/action", f"POST {_V1}/worker", f"GET {_V1}/task/{{task_id}}/segments"}
)
"""Operations that are always refused: Druid has them, and a client gets the reason."""
_WITH_404 = frozenset(
    {
        "GET /api/v1/compactions",
        "DELETE /api/v1/sessions/current",
        "POST /internal/v1/steps",
    }
)
"""Operations without an id in their path whose object may not exist."""
_WITHOUT_404 = frozenset({"GET /api/v1/datasources/{data_source}/snippets"})
"""Operations whose object may not exist yet, such as a table without an export."""


def _header(description: str, kind: str = "string") -> Json:
    return {"description": description, "required": True, "schema": {"type": kind}}


_NEXT_PAGE: Json = {
    "Link": {
        "description": 'The address of the next page (`rel="next"`); absent on the last one.',
        "schema": {"type": "string"},
    }
}
_ETAG: Json = {"ETag": _header("The version of the spec, for If-Match.")}
_FLOW_TAG: Json = {"ETag": _header("The version of the flow, for If-Match.")}
_ANSWER_TAG: Json = {"ETag": _header("The tag of this answer, for If-None-Match.")}
_HEADERS: Mapping[str, Json] = MappingProxyType(
    {
        f"GET {_ONE}": _ETAG,
        "GET /api/v1/flows/{flow}": _FLOW_TAG,
        "GET /api/v1/flows/{flow}/versions/{version}": _FLOW_TAG,
        "POST /api/v1/flows": _FLOW_TAG,
        "POST /api/v1/flows/{flow}/versions/{version}/rollback": _FLOW_TAG,
        "GET /api/v1/lag": _ANSWER_TAG,
        "GET /api/v1/schemas/flow": _ANSWER_TAG,
        "GET /api/v1/schemas/supervisor-spec": _ANSWER_TAG,
        "GET /api/v1/supervisors": _ANSWER_TAG,
        "GET /api/v1/supervisors/{supervisor_id}/partitions": _ANSWER_TAG,
        "GET /api/v1/queues": _NEXT_PAGE,
        f"GET {_V1}/supervisor/history": _NEXT_PAGE,
        f"GET {_ONE}/history": _NEXT_PAGE,
        f"POST {_ONE}/suspend": _ETAG,
        f"POST {_ONE}/resume": _ETAG,
        f"GET {_V1}/task/{{task_id}}/log": {
            "X-Tidegate-Log-Start": _header("Where the piece begins, in bytes.", "integer"),
            "X-Tidegate-Log-Size": _header("How long the log is, in bytes.", "integer"),
        },
    }
)
"""Operation -> headers of its answer 200."""


def answered(document: Json) -> Json:
    """Add the problem responses of each operation to the document, in place."""
    components = cast("dict[str, Json]", document["components"])
    components["responses"] = {f"Problem{status}": body for status, body in ANSWERS.items()}
    components["responses"]["NoSuch404"] = {
        **ANSWERS["404"],
        "content": {MEDIA_TYPE: _PROBLEM, "text/plain": _TEXT},
    }
    for path, operations in cast("dict[str, dict[str, Json]]", document["paths"]).items():
        for method, operation in operations.items():
            responses = cast("dict[str, Json]", operation["responses"])
            called = f"{method.upper()} {path}"
            if called in _REFUSING:
                del responses["200"]
            if called in _HEADERS:
                responses["200"]["headers"] = _HEADERS[called]
            for status, name in _statuses(path, method.upper(), operation):
                own = responses.get(status)
                responses[status] = (
                    {"$ref": _REF + name} if own is None else _with_problem(status, own)
                )
    return document


def _statuses(path: str, method: str, operation: Json) -> Iterator[tuple[str, str]]:
    """Yield the status and the component name of each response."""
    wanted = [*_EVERY]
    if method in METHODS:
        wanted += _ACTS
        wanted += () if path.startswith(INTERNAL_PATH) else _ACTS_IN_PUBLIC
        wanted += ["412"] if "if-match" in _headers(operation) else []
    yield from ((status, f"Problem{status}") for status in wanted)
    if f"{method} {path}" in _WITH_404:
        yield "404", "Problem404"
    if f"{method} {path}" in _WITHOUT_404:
        yield "409", "Problem409"
    if "{" in path:
        scope = cast("dict[str, str]", operation[EXTENSION]).get("on", "")
        as_text = path.startswith(_DRUID) and scope in _TEXT_SCOPES
        yield "404", "NoSuch404" if as_text else "Problem404"


def _headers(operation: Json) -> set[str]:
    found = cast("list[dict[str, str]]", operation.get("parameters", []))
    return {each["name"].lower() for each in found if each["in"] == "header"}


def _with_problem(status: str, own: Json) -> Json:
    """Return a route's own response, extended by the problem of the same status."""
    content = cast("Json", own.get("content", {}))
    return {**ANSWERS[status], **own, "content": {**content, MEDIA_TYPE: _PROBLEM}} | {
        "headers": {**_optional(ANSWERS[status]), **cast("Json", own.get("headers", {}))}
    }


def _optional(answer: Json) -> Json:
    headers = cast("dict[str, Json]", answer.get("headers", {}))
    return {name: {**header, "required": False} for name, header in headers.items()}
