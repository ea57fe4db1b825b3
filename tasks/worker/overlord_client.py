"""HTTP client of the overlord: tries each configured address until one leads.

- 200 is the answer.
- 409 with /problems/worker-fenced is Fenced, for good.
- After a 503, after a 421 (that port does not serve workers), or without a connection, the client
  tries the next address.  It begins with the address that a follower names as leader.
- Another 4xx is OverlordRefused, because the same request would get the same answer.
- 401, 403, 408 and 429 are OverlordUnavailable: another token or another moment changes them.
- A 404 or 405 without a problem of an overlord is OverlordUnavailable: a proxy answers so.
- All other answers are OverlordUnavailable.  Its text is a sentence for people, and the caller
  tries again.

Some syncs have a header with the worker's facts (`tasks/contract/worker_facts.py`), and an answer
may have one with the addresses of persisters (`report_doors.py` there).  A sync is repeated after
any answer.  The last answers to syncs are kept: an overlord may answer by
`Unchanged`, which stands for one of them.
"""

import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from tasks.contract.messages import (
    KNOWN_TERM_HEADER,
    CompactedFile,
    DesiredCompaction,
    DesiredTask,
    PublishAnswer,
    PublishRequest,
    SyncRequest,
    SyncResponse,
    Unchanged,
)
from tasks.contract.report_doors import DOORS_HEADER, doors_of_header
from tasks.contract.sample import DesiredSample, SampleAnswer
from tasks.contract.wire import Wire
from tasks.contract.worker_facts import FACTS_HEADER, FACTS_PERIOD_S, WorkerFacts
from tasks.kafka.http_answers import bounded
from tasks.ports import Fenced, OverlordRefused, OverlordUnavailable

FENCED = "/problems/worker-fenced"
"""`type` of the problem by which an overlord stops an old incarnation."""

WORKERS_HEADER = "X-Tidegate-Token"
"""Header of the worker's token; the header Authorization has the token of a task."""
_CONNECT_S = 2.0
_PUBLISH_S = 30.0
_ANSWERS_KEPT = 4
"""Answers to which `Unchanged` may refer: two syncs are under way at once."""
_UNCHANGED_BYTES_MAX = 1_000
_TEXT_MAX = 500
_NOT_HERE = frozenset({421, 503})
_MAY_PASS = frozenset({401, 403, 408, 421, 429})
_ALSO_A_PROXYS = frozenset({404, 405})
_PROBLEMS = "/problems/"


class HttpOverlord:
    """`Overlord` over HTTP; safe to call from many threads.

    Args:
        addresses: base addresses of all overlords, tried beginning with the last that led.
        connections_max: calls in flight at once: two syncs, one publish per finishing task
            and one of a compaction.
        answer_s: how long an answer may take beyond the wait that the request allows.
        bytes_max: a longer answer is refused.
        token: the worker's own token, beside the token of a task; overlords on loopback need none.
        tls: the authorities to trust for overlords; True: the system's authorities.
        facts: the present facts of the worker; None: none are sent.
        hear_doors: takes the addresses of persisters that an answer names, and returns at once.
        monotonic: the clock by which facts are sent again.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        *,
        connections_max: int = 64,
        answer_s: float = 5.0,
        bytes_max: int = 64 * 1024 * 1024,
        token: str | None = None,
        tls: ssl.SSLContext | bool = True,
        facts: Callable[[], WorkerFacts] | None = None,
        hear_doors: Callable[[Sequence[str]], None] = lambda _: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._addresses = tuple(address.rstrip("/") for address in addresses)
        self._leader = self._addresses[0]
        self._answer_s = answer_s
        self._bytes_max = bytes_max
        limits = httpx.Limits(max_connections=connections_max, max_keepalive_connections=8)
        self._answers: Mapping[str, SyncResponse] = {}
        """Revision -> the last answer with it, the newest last; replaced, never changed."""
        self._facts = facts
        self._hear_doors = hear_doors
        self._monotonic = monotonic
        self._facts_sent: tuple[str, float] | None = None
        """The address that answered the last sync with facts, and when."""
        self._client = httpx.Client(
            limits=limits,
            follow_redirects=False,
            trust_env=False,
            verify=tls,
            headers={} if token is None else {WORKERS_HEADER: token},
        )

    def __enter__(self) -> Self:
        """Nothing connects before the first call."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; calls in flight end with OverlordUnavailable."""
        self._client.close()

    def sync(self, request: SyncRequest) -> SyncResponse:
        """Send the worker's state, return the desired state.  Raises as `Overlord.sync`."""
        path = f"/internal/v1/workers/{quote(request.worker_id, safe='')}/sync"
        known = None if request.known is None else self._answers.get(request.known)
        headers = {} if known is None else {KNOWN_TERM_HEADER: str(known.term)}
        began = self._monotonic()
        if self._facts is not None and self._are_facts_due(began):
            headers[FACTS_HEADER] = self._facts().to_header()
        try:
            body = self._post(path, request.to_json(), request.wait, headers)
        except OverlordRefused as error:  # the next one says something else, and has to be tried
            raise OverlordUnavailable(str(error)) from error
        if FACTS_HEADER in headers:
            self._facts_sent = (self._leader, began)
        if known is not None and _is_unchanged(body, known):
            return known
        answer = _parsed(SyncResponse, body)
        self._keep(answer)
        return answer

    def _are_facts_due(self, now: float) -> bool:
        """Whether the overlord that led last has no facts, or those of long ago."""
        if self._facts_sent is None or self._facts_sent[0] != self._leader:
            return True
        return now - self._facts_sent[1] >= FACTS_PERIOD_S

    def _keep(self, answer: SyncResponse) -> None:
        newest = {answer.revision: answer}
        before = {r: a for r, a in self._answers.items() if r != answer.revision}
        self._answers = {**dict([*before.items()][1 - _ANSWERS_KEPT :]), **newest}

    def publish(self, task: DesiredTask, request: PublishRequest) -> PublishAnswer:
        """Ask to publish.  Raises as `Overlord.publish`; the range may be committed even then."""
        path = f"/internal/v1/tasks/{quote(task.task_id, safe='')}/publish"
        return self._published(path, task.token, request)

    def publish_compaction(self, order: DesiredCompaction, file: CompactedFile) -> PublishAnswer:
        """Offer a compacted file.

        Raises as `Overlord.publish_compaction`; the file may be committed even then.
        """
        path = f"/internal/v1/compactions/{quote(order.compaction_id, safe='')}/publish"
        return self._published(path, order.token, file)

    def answer_sample(self, order: DesiredSample, answer: SampleAnswer) -> None:
        """Send the result of a sample.  Raises as `Overlord.answer_sample`."""
        path = f"/internal/v1/samples/{quote(order.sample_id, safe='')}"
        headers = {"Authorization": f"Bearer {order.token}"}
        self._post(path, answer.to_json(), timedelta(seconds=_PUBLISH_S), headers)

    def _published(self, path: str, token: str, request: Wire) -> PublishAnswer:
        headers = {"Authorization": f"Bearer {token}"}
        body = self._post(path, request.to_json(), timedelta(seconds=_PUBLISH_S), headers)
        return _parsed(PublishAnswer, body)

    def _post(self, path: str, json: str, wait: timedelta, headers: dict[str, str]) -> bytes:
        waits_s = wait.total_seconds() + self._answer_s
        troubles: list[str] = []
        untried = self._in_turn()
        while untried:
            address = untried.pop(0)
            try:
                status, body = self._answer(f"{address}{path}", json, waits_s, headers)
            except (httpx.HTTPError, httpx.StreamError, RuntimeError) as error:
                # RuntimeError: the client was closed by another thread.
                troubles.append(f"{address}: {str(error) or type(error).__name__}")
                continue
            if status == httpx.codes.OK:
                self._leader = address
                return body
            problem = _Problem(body)
            if status == httpx.codes.CONFLICT and problem.is_fenced:
                raise Fenced(problem.text)
            troubles.append(f"{address}: {status} {problem.text}")
            if _is_refusal(status, problem):
                raise OverlordRefused("; ".join(troubles))
            if status in _NOT_HERE and problem.leader in untried:
                untried.remove(problem.leader)
                untried.insert(0, problem.leader)
            elif status not in _NOT_HERE:
                break  # it leads, and it will not have this: asking others changes nothing
        raise OverlordUnavailable("; ".join(troubles))

    def _in_turn(self) -> list[str]:
        first = self._leader
        return [first, *(address for address in self._addresses if address != first)]

    def _answer(
        self, url: str, json: str, waits_s: float, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        timeout = httpx.Timeout(waits_s, connect=_CONNECT_S)
        sent = {"Content-Type": "application/json", **headers}
        with self._client.stream(
            "POST", url, content=json, headers=sent, timeout=timeout
        ) as response:
            body = b"".join(bounded(response, waits_s, self._bytes_max))
            if response.status_code == httpx.codes.OK and DOORS_HEADER in response.headers:
                self._hear_doors(doors_of_header(response.headers[DOORS_HEADER]))
            return response.status_code, body


class _Problem:
    """The readable parts of an error's body, which may have any form."""

    def __init__(self, body: bytes) -> None:
        try:
            members = TypeAdapter(dict[str, object]).validate_json(body)
        except ValidationError:
            members = {"detail": body[:_TEXT_MAX].decode(errors="replace")}
        self.is_fenced = members.get("type") == FENCED
        self.is_an_overlords = str(members.get("type")).startswith(_PROBLEMS)
        self.leader = str(members.get("leader") or "").rstrip("/")
        detail = members.get("detail") or members.get("error") or members.get("title") or ""
        self.text = str(detail)[:_TEXT_MAX]


def _is_refusal(status: int, problem: _Problem) -> bool:
    if not httpx.codes.is_client_error(status) or status in _MAY_PASS:
        return False
    return status not in _ALSO_A_PROXYS or problem.is_an_overlords


def _is_unchanged(body: bytes, known: SyncResponse) -> bool:
    """Whether a body stands for the known answer, and for no other."""
    if len(body) > _UNCHANGED_BYTES_MAX:
        return False
    try:
        answer = Unchanged.from_json(body)
    except ValidationError:
        return False  # a whole answer, or none
    return (answer.term, answer.revision) == (known.term, known.revision)


_Message = TypeVar("_Message", bound=Wire)


def _parsed(message: type[_Message], body: bytes) -> _Message:
    try:
        return message.from_json(body)
    except ValidationError as error:
        text = f"the overlord's answer is no {message.__name__}: {error.error_count()} errors"
        raise OverlordUnavailable(text) from error
