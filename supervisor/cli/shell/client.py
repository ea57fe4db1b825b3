"""HTTP client of the overlord's API: addresses, timeouts, redirects to the leader, errors.

The client tries each overlord in turn and skips one that is down or does not lead.  A request that
may have been carried out is never sent twice.
"""

import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import JsonValue, TypeAdapter, ValidationError

from supervisor.cli.shell.problems import ProblemAnswer, Unreachable
from supervisor.core.values.errors import FieldError
from supervisor.views.lenient import lenient

CONNECT_TIMEOUT_S = 5.0
ANSWER_TIMEOUT_S = 30.0
TEXT_MAX = 500
SUPERVISORS = "/druid/indexer/v1/supervisor"
TASKS = "/druid/indexer/v1/tasks"
TASK = "/druid/indexer/v1/task"
WORKERS = "/druid/indexer/v1/workers"
WORKER = "/druid/indexer/v1/worker"
OPERATIONS = "/api/v1/operations"
OPERATION = "Tidegate-Operation"
OURS = "/api/v1/supervisors"

_REDIRECTED, _UNKNOWN = 307, 401
_NOT_TRUSTED = "CERTIFICATE_VERIFY_FAILED"
"""Part of OpenSSL's message for an untrusted certificate."""
_NOT_HERE = {_REDIRECTED, 502, 503, 504}

T = TypeVar("T")
Params = Mapping[str, str | int | bool | Sequence[str]]
"""Name -> value; a name with several values is sent several times."""


def path_of(*parts: str) -> str:
    """Return a URL path from a prefix and names; each name is quoted to one path segment."""
    first, *names = parts
    return "/".join([first, *(quote(name, safe="") for name in names)])


@dataclass(frozen=True)
class ApiReply:
    """An answer with status below 400, or one that the caller expects."""

    status: int
    body: bytes
    server: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers by name in lower case."""

    @property
    def operation(self) -> str | None:
        """The id of the operation that was started; None: the overlord names none."""
        return self.headers.get(OPERATION.lower())

    @property
    def etag(self) -> str:
        """The ETag, the version of the resource; empty: the answer has none."""
        return self.headers.get("etag", "")

    def json(self) -> object:
        """Return the body as JSON values.

        Raises:
            ProblemAnswer: the body is no JSON, so that this is perhaps no overlord.
        """
        try:
            value: object = json.loads(self.body)
        except ValueError as error:
            raise ProblemAnswer(
                f"{self.server} answered with something that is not JSON: is this an overlord?",
                status=self.status,
            ) from error
        return value

    def part(self, member: str) -> "ApiReply":
        """Return this answer reduced to a list that it has as `member`; empty: it has none."""
        page = self.read(dict[str, JsonValue])
        return replace(self, body=json.dumps(page.get(member) or []).encode())

    def read(self, kind: type[T], *, whole: bool = False) -> T:
        """Return the body as a value of `kind`, read leniently; `whole`: no member may be missing.

        Raises:
            ProblemAnswer: the body has a form that this version of the command does not know.
        """
        try:
            return TypeAdapter(lenient(kind, whole=whole)).validate_python(self.json())
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "/".join(str(part) for part in first["loc"])
            raise ProblemAnswer(
                f"{self.server} answered in another form than this version knows, "
                f"at /{where}: {first['msg']}",
                status=self.status,
            ) from error


class Client:
    """A client of several overlords, of which any may answer."""

    def __init__(
        self,
        servers: Sequence[str],
        authorization: str | None = None,
        tls: ssl.SSLContext | bool = True,
        reason: str | None = None,
    ) -> None:
        """Create a client without a connection; `servers` are base URLs, tried in order.

        Credentials are sent to these URLs only: with them, no redirect to another URL is followed.
        `reason` is sent with each request that may change something.
        """
        self._servers = tuple(server.rstrip("/") for server in servers)
        self._follows = authorization is None
        self._why = {} if reason is None else {"reason": reason}
        self._http = httpx.Client(
            timeout=httpx.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            follow_redirects=False,
            headers={"Accept": "application/json, application/problem+json"}
            | ({} if authorization is None else {"Authorization": authorization}),
            trust_env=False,  # a proxy from the environment cannot reach loopback addresses
            verify=tls,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    @property
    def servers(self) -> tuple[str, ...]:
        """The base URLs, in the order in which they are tried."""
        return self._servers

    def stream(
        self, url: str, params: Params, silent_s: float
    ) -> AbstractContextManager[httpx.Response]:
        """Open a stream of events at one of the servers, with a read timeout of `silent_s` seconds.

        Errors of httpx are left to the caller, which connects again.
        """
        timeout = httpx.Timeout(CONNECT_TIMEOUT_S, read=silent_s)
        headers = {"Accept": "text/event-stream"}
        return self._http.stream("GET", url, params=params, timeout=timeout, headers=headers)

    def get(self, path: str, params: Params | None = None, *, also: Sequence[int] = ()) -> ApiReply:
        """Send a GET request; a status in `also` is no error.

        Raises:
            Unreachable: no overlord answered.
            ProblemAnswer: an overlord answered with a problem.
        """
        return self._send(
            lambda server: self._http.get(f"{server}{path}", params=dict(params or {})), also
        )

    def post(
        self,
        path: str,
        body: bytes = b"",
        params: Params | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> ApiReply:
        """Send a POST request with JSON text, or without a body; errors as in `get`."""
        return self._write("POST", path, body, params, headers)

    def put(self, path: str, body: bytes, params: Params | None = None) -> ApiReply:
        """Send a PUT request with JSON text; errors as in `get`."""
        return self._write("PUT", path, body, params)

    def delete(
        self,
        path: str,
        params: Params | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> ApiReply:
        """Send a DELETE request; errors as in `get`."""
        return self._write("DELETE", path, b"", params, headers)

    def _write(
        self,
        method: str,
        path: str,
        body: bytes,
        params: Params | None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiReply:
        sent = {"Content-Type": "application/json", **(headers or {})}
        query = {**self._why, **(params or {})}
        return self._send(
            lambda server: self._http.request(
                method, f"{server}{path}", content=body, params=query, headers=sent
            ),
            (),
        )

    def _send(self, call: Callable[[str], httpx.Response], also: Sequence[int]) -> ApiReply:
        waiting, failures = list(self._servers), []
        tried: set[str] = set()
        while waiting:
            server = waiting.pop(0)
            tried.add(server)
            try:
                response = call(server)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failures.append(f"{server}: {str(error) or type(error).__name__}")
                continue
            except httpx.HTTPError as error:
                # The request may have been carried out; another overlord could do it twice.
                what = str(error) or type(error).__name__
                raise Unreachable(f"{server} did not answer in good order: {what}") from error
            answered = response.status_code < 400 and response.status_code != _REDIRECTED  # noqa: PLR2004 -- HTTP
            if answered or response.status_code in also:
                headers = {name.lower(): value for name, value in response.headers.items()}
                return ApiReply(response.status_code, response.content, server, headers)
            if not _passed_over(response):
                raise problem_of(response, server)
            failures.append(f"{server}: {problem_of(response, server)}")
            leader = _leader(response)
            if leader in waiting:
                waiting.remove(leader)
                waiting.insert(0, leader)
            elif leader is not None and leader not in tried:
                if self._follows:
                    waiting.insert(0, leader)
                else:
                    failures.append(f"{leader} leads, and is none of TIDEGATE_OVERLORDS")
        raise Unreachable(f"no overlord can be reached: {'; '.join(failures)}. {_todo(failures)}")


def _todo(failures: Sequence[str]) -> str:
    if any(_NOT_TRUSTED in failure for failure in failures):
        return (
            "Name the file with the certificate of its authority, or with its own if it has none, "
            "in TIDEGATE_TLS_CA."
        )
    return (
        "Start one (`tidegate dev` or `tidegate overlord`), or name one with --server or "
        "TIDEGATE_OVERLORDS."
    )


def _passed_over(response: httpx.Response) -> bool:
    """Whether this server does not lead, or is a proxy without a leader, so another may answer."""
    if response.status_code not in _NOT_HERE:
        return False
    document = _document(response)
    return document is None or str(document.get("type", "")).endswith("/not-the-leader")


def _leader(response: httpx.Response) -> str | None:
    leader = (_document(response) or {}).get("leader")
    return leader.rstrip("/") if isinstance(leader, str) and leader.startswith("http") else None


def _document(response: httpx.Response) -> dict[str, object] | None:
    try:
        document: object = response.json()
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def problem_of(response: httpx.Response, server: str) -> ProblemAnswer:
    """Return the error in a refused response, in the words of the server."""
    document = _document(response)
    if document is None:
        text = response.text.strip()[:TEXT_MAX]
        html = "html" in response.headers.get("content-type", "") or not text
        message = f"{server} answered {response.status_code} {response.reason_phrase}"
        return ProblemAnswer(message if html else text, status=response.status_code)
    title = str(document.get("title") or "")
    detail = str(document.get("detail") or document.get("error") or title or response.reason_phrase)
    listed = document.get("errors")
    errors = [_field_error(each) for each in listed] if isinstance(listed, list) else []
    if response.status_code == _UNKNOWN:
        detail += ". The command sends TIDEGATE_TOKEN, or what TIDEGATE_TOKEN_FILE holds"
    kind = str(document.get("type") or "").rpartition("/")[2]
    status = response.status_code
    return ProblemAnswer(detail, status=status, title=title, errors=errors, kind=kind)


def _field_error(member: object) -> FieldError:
    if not isinstance(member, dict):
        return FieldError("", str(member))
    message = str(member.get("message") or member.get("detail") or "is wrong")
    return FieldError(str(member.get("pointer") or ""), message, str(member.get("hint") or ""))
