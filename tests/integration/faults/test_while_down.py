"""The API answers while something behind it is down: at once, with what it has or with a 503.

Source: E2, F1, F7, F9, R11.

Slow: an overlord stays away in real time while its workers go on.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from tests.environment.frozen import freeze
from tests.environment.postgres import Server, postgres
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords, silent_broker
from tests.waiting import wait_until

pytestmark = pytest.mark.long

LEASE = {"TIDEGATE_LEASE_TTL": "PT30S"}
"""A statement may take 10 s and a lock 7.5 s: an answer that waited for one is told from one that
waited for a loaded machine."""
AT_ONCE_S = 5.0
BACK_WITHIN_S = 15.0
"""Long before the lease ends: the overlord that had it goes on."""
READS = (
    "/status",
    "/status/health",
    SUPERVISORS,
    f"{SUPERVISORS}?full=true",
    f"{SUPERVISORS}/clicks/status",
    f"{SUPERVISORS}/clicks/health",
    "/druid/indexer/v1/tasks",
    "/druid/indexer/v1/workers",
    "/metrics",
)


@dataclass(frozen=True)
class Took:
    """One answer, and how long it took."""

    path: str
    status: int
    seconds: float
    kind: str
    retry_after: str = ""


def _ask(overlord: Overlord, path: str, body: object = None) -> Took:
    """GET, or POST what is written behind the word."""
    method, _, rest = path.rpartition(" ")
    began = time.monotonic()
    answer = overlord.http.request(method or "GET", rest, json=body)
    took_s = time.monotonic() - began
    content_type = answer.headers.get("content-type", "")
    kind = str(answer.json()["type"]) if content_type.startswith("application/problem") else ""
    after = answer.headers.get("retry-after", "")
    return Took(path, answer.status_code, took_s, kind, after)


def _refused_at_once(answers: list[Took]) -> None:
    """Nobody waited; what the rows know is refused with a reason, and with when to ask again."""
    assert [answer for answer in answers if answer.seconds >= AT_ONCE_S] == []
    refused = [answer for answer in answers if answer.path != "/status"]
    kinds = {f"/problems/{kind}" for kind in ("metadata-unavailable", "not-the-leader")}
    assert {answer.kind for answer in refused} <= kinds
    assert [answer for answer in refused if not answer.retry_after] == []
    assert {answer.status for answer in answers if answer.path == "/status"} == {200}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of our own: it is stopped and killed."""
    with postgres() as server:
        yield server


@pytest.fixture
def overlord(server: Server, tmp_path: Path) -> Iterator[Overlord]:
    """A leader on PostgreSQL with one supervisor, whose broker never says a word."""
    with (
        server.database() as url,
        silent_broker() as address,
        Overlords(tmp_path, url, LEASE) as overlords,
    ):
        overlord = overlords.start()
        wait_until(overlord.leads)
        posted = overlord.http.post(SUPERVISORS, json=spec(address, "clicks"))
        assert posted.status_code == httpx.codes.OK, posted.text
        yield overlord


def _processes(server: Server) -> list[psutil.Process]:
    with psycopg.connect(server.url("postgres")) as connection:
        pid = connection.info.backend_pid
        parent = psutil.Process(pid).parent()
        assert parent is not None
        return [parent, *parent.children()]


@contextmanager
def _frozen(server: Server) -> Iterator[None]:
    """Stop every process of the server; its connections stay open and say nothing."""
    processes = _processes(server)
    try:
        for each in processes:
            with _unless_ended():
                freeze(each.pid)
        yield
    finally:
        for each in processes:
            with _unless_ended():
                os.kill(each.pid, signal.SIGCONT)


def _unless_ended() -> AbstractContextManager[None]:
    """Pass over the session from which the process ids were read."""
    return suppress(ProcessLookupError, psutil.NoSuchProcess)


def _until_it_works(overlord: Overlord, act: Callable[[], int]) -> tuple[float, set[int]]:
    """Return how long it took until `act` was answered with 200, and what else was answered."""
    began, seen = time.monotonic(), set[int]()

    def works() -> bool:
        status = act()
        seen.add(status)
        return status == httpx.codes.OK and overlord.leads()

    wait_until(works)
    return time.monotonic() - began, seen - {200}


def _changes(overlord: Overlord) -> Callable[[], int]:
    """Change the spec with each call, whatever became of the one before."""
    numbers = count(1)

    def change() -> int:
        wanted = spec("127.0.0.1:1", "clicks", task_count=next(numbers))
        return overlord.http.post(SUPERVISORS, json=wanted).status_code

    return change


@pytest.mark.pg
def test_the_api_answers_at_once_while_kafka_takes_connections_and_is_silent(
    overlord: Overlord,
) -> None:
    """Source: E2, R11, Druid #16272."""
    answers = [_ask(overlord, path) for path in READS * 3]
    changed = spec("127.0.0.1:1", "clicks", task_count=2)
    verbs: list[tuple[str, object]] = [
        ("/clicks/suspend", None),
        ("/clicks/resume", None),
        ("", changed),
        ("/clicks/terminate", None),
        ("", changed),
    ]
    answers += [_ask(overlord, f"POST {SUPERVISORS}{verb}", body) for verb, body in verbs]
    groups = {"taskGroupIds": [0]}
    handoff = _ask(overlord, f"POST {SUPERVISORS}/clicks/taskGroups/handoff", groups)
    partitions = {"type": "end", "stream": "clicks", "partitionOffsetMap": {"0": 5}}
    offsets = {"type": "kafka", "partitions": partitions}
    unknown = [
        _ask(overlord, f"POST {SUPERVISORS}/clicks/reset"),
        _ask(overlord, f"POST {SUPERVISORS}/clicks/resetOffsets", offsets),
    ]

    assert [answer for answer in answers if answer.status != httpx.codes.OK] == []
    assert {answer.kind for answer in unknown} == {"/problems/stream-unavailable"}
    assert handoff.kind == "/problems/unknown-groups"  # nobody knows a partition yet
    assert [answer for answer in (*answers, *unknown, handoff) if answer.seconds >= AT_ONCE_S] == []


@pytest.mark.pg
def test_the_api_answers_at_once_while_postgresql_is_silent_and_works_soon_after(
    overlord: Overlord, server: Server
) -> None:
    """Goal: a stopped server obeys none of its own timeouts; nobody waits for it (F1, F7)."""
    calls = [*READS, f"POST {SUPERVISORS}/clicks/suspend"]
    with _frozen(server), ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda path: _ask(overlord, path), calls * 4))

    _refused_at_once(answers)
    took_s, _ = _until_it_works(overlord, _changes(overlord))
    assert took_s < BACK_WITHIN_S


@pytest.mark.pg
def test_the_api_answers_at_once_while_postgresql_is_away_and_works_once_it_is_back(
    overlord: Overlord, server: Server
) -> None:
    """Goal: a server that was stopped and started again needs no restart of an overlord (F9)."""
    calls = [*READS, f"POST {SUPERVISORS}/clicks/suspend"]
    server.stop()
    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda path: _ask(overlord, path), calls * 4))
    finally:
        server.start()
    took_s, seen = _until_it_works(overlord, _changes(overlord))
    after = [_ask(overlord, path) for path in READS]

    _refused_at_once(answers)
    assert took_s < BACK_WITHIN_S
    assert seen <= {503}
    assert {answer.status for answer in after} == {200}
    assert [answer for answer in after if answer.seconds >= AT_ONCE_S] == []


@pytest.mark.pg
def test_a_restart_of_postgresql_costs_no_500_and_no_lease(
    overlord: Overlord, server: Server
) -> None:
    """Goal: all sessions are cut, and the server refuses new ones until it is back (F9).

    The kill of one session makes the server restart itself as after a crash.
    """
    change = _changes(overlord)
    assert change() == httpx.codes.OK
    with psycopg.connect(server.url("postgres")) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
    took_s, seen = _until_it_works(overlord, change)

    assert took_s < BACK_WITHIN_S
    assert seen <= {503}
