"""The overlord by HTTP, against real servers on real ports that answer as a test says."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from tasks.contract.messages import (
    CompactedFile,
    Counters,
    PublishAnswer,
    PublishOutcome,
    PublishRequest,
    SyncRequest,
    SyncResponse,
)
from tasks.contract.sample import SampleAnswer
from tasks.contract.worker_facts import FACTS_HEADER, FACTS_PERIOD_S, WorkerFacts, read_facts
from tasks.ports import Fenced, OverlordRefused, OverlordUnavailable
from tasks.worker.overlord_client import HttpOverlord
from tests.tasks.memory import DEADLINE_S, IDS, at, desired
from tests.tasks.orders import compaction, published, sample

SYNC = SyncRequest(worker_id="w-1", incarnation=7, sequence=1, url="http://w", slots=4)
PUBLISH = PublishRequest(
    task_id="task-1",
    incarnation=7,
    start=at(0),
    end=at(5),
    topic_ids=IDS,
    segments=(),
    counters=Counters(),
)
COMPACTED = CompactedFile(compaction_id="c-1", incarnation=7, file=published(1))
ANSWER = SyncResponse(term=3, revision="3-1", tasks=(desired(),))


@dataclass
class Server:
    """Answers every POST with the same status and body, and keeps what it was asked."""

    status: int = 200
    body: bytes = field(default_factory=lambda: ANSWER.to_json().encode())
    headers: dict[str, str] = field(default_factory=dict)
    drip: bool = False
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    ended: Event = field(default_factory=Event)

    def start(self) -> None:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                site.requests.append((self.path, dict(self.headers), self.rfile.read(length)))
                self.send_response(site.status)
                for name, value in site.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                while site.drip and not site.ended.wait(0.05):
                    try:
                        self.wfile.write(b" ")
                    except OSError:
                        return
                self.wfile.write(site.body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._thread.join(DEADLINE_S)
        self._server.server_close()

    def problem(self, status: int, **members: str) -> None:
        self.status, self.body = status, json.dumps(members).encode()


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    with ExitStack() as stack:
        new_servers = [Server(), Server(), Server()]
        for server in new_servers:
            server.start()
            stack.callback(server.close)
        yield new_servers


@pytest.fixture
def overlord(servers: list[Server]) -> Iterator[HttpOverlord]:
    with HttpOverlord([server.url for server in servers]) as client:
        yield client


def test_a_sync_brings_the_desired_tasks(servers: list[Server], overlord: HttpOverlord) -> None:
    assert overlord.sync(SYNC) == ANSWER
    [(path, headers, body)] = servers[0].requests
    assert path == "/internal/v1/workers/w-1/sync"
    assert SyncRequest.from_json(body) == SYNC
    assert headers["Content-Type"] == "application/json"


def test_a_worker_says_who_it_is_beside_the_token_of_a_task(servers: list[Server]) -> None:
    with HttpOverlord([servers[0].url], token="tdg_of-the-worker") as overlord:
        overlord.sync(SYNC)
    [(_, headers, _)] = servers[0].requests
    assert headers["X-Tidegate-Token"] == "tdg_of-the-worker"
    assert "Authorization" not in headers


def test_facts_go_with_the_first_sync_to_an_overlord_and_then_now_and_then(
    servers: list[Server],
) -> None:
    """Goal: an unchanged sync stays as cheap as it is."""
    now = [0.0]
    facts = WorkerFacts(
        version="0.9", running_for=timedelta(seconds=5), spark_master="master \u00e9"
    )
    addresses = [server.url for server in servers]
    with HttpOverlord(addresses, facts=lambda: facts, monotonic=lambda: now[0]) as client:
        for at_s in (0.0, 0.0, FACTS_PERIOD_S - 0.1, FACTS_PERIOD_S):
            now[0] = at_s
            client.sync(SYNC)
        servers[0].status = 503
        client.sync(SYNC)
        client.sync(SYNC)

    sent = [FACTS_HEADER in headers for _, headers, _ in servers[0].requests]
    assert sent == [True, False, False, True, False]
    assert [FACTS_HEADER in headers for _, headers, _ in servers[1].requests] == [False, True]
    assert read_facts(servers[0].requests[0][1][FACTS_HEADER]) == facts


def test_a_publish_carries_the_token_of_its_task(
    servers: list[Server], overlord: HttpOverlord
) -> None:
    answer = PublishAnswer(outcome=PublishOutcome.COMMITTED, reason="first")
    servers[0].body = answer.to_json().encode()

    assert overlord.publish(desired(), PUBLISH) == answer
    [(path, headers, body)] = servers[0].requests
    assert path == "/internal/v1/tasks/task-1/publish"
    assert headers["Authorization"] == "Bearer token of task-1"
    assert PublishRequest.from_json(body) == PUBLISH


def test_a_compacted_file_is_offered_with_the_token_of_its_compaction(
    servers: list[Server], overlord: HttpOverlord
) -> None:
    answer = PublishAnswer(outcome=PublishOutcome.SUPERSEDED, reason="an input was dropped")
    servers[0].problem(503, leader=servers[1].url)
    servers[1].body = answer.to_json().encode()

    assert overlord.publish_compaction(compaction("c-1"), COMPACTED) == answer
    [(path, headers, body)] = servers[1].requests
    assert path == "/internal/v1/compactions/c-1/publish"
    assert headers["Authorization"] == "Bearer token of c-1"
    assert CompactedFile.from_json(body) == COMPACTED


def test_a_sample_is_answered_with_its_token(servers: list[Server], overlord: HttpOverlord) -> None:
    answer = SampleAnswer(sample_id="s-1", failure="the topic is gone")
    servers[0].body = b'{"taken": true}'

    overlord.answer_sample(sample("s-1"), answer)

    [(path, headers, body)] = servers[0].requests
    assert path == "/internal/v1/samples/s-1"
    assert headers["Authorization"] == "Bearer token of s-1"
    assert SampleAnswer.from_json(body) == answer


def test_an_answer_without_samples_is_that_of_a_release_before_them() -> None:
    """Goal: a worker that knows no samples still reads what an overlord says."""
    assert "samples" not in ANSWER.to_json()
    answer = ANSWER.model_copy(update={"samples": (sample("s-1"),)})
    assert SyncResponse.from_json(answer.to_json()) == answer


def test_a_compaction_id_is_one_part_of_the_path(
    servers: list[Server], overlord: HttpOverlord
) -> None:
    servers[0].problem(404, detail="no such compaction")

    with pytest.raises(OverlordUnavailable, match="no such compaction"):
        overlord.publish_compaction(compaction("../x?y"), COMPACTED)

    assert servers[0].requests[0][0] == "/internal/v1/compactions/..%2Fx%3Fy/publish"


def test_a_follower_that_names_the_leader_is_believed_and_the_leader_remembered(
    servers: list[Server], overlord: HttpOverlord
) -> None:
    servers[0].problem(503, leader=servers[2].url + "/")

    assert overlord.sync(SYNC) == ANSWER
    assert overlord.sync(SYNC) == ANSWER

    assert [len(server.requests) for server in servers] == [1, 0, 2]


def test_a_port_that_does_not_serve_workers_is_passed_over(
    servers: list[Server], overlord: HttpOverlord
) -> None:
    """Goal: while an operator moves workers to a port of their own, both addresses may be named."""
    servers[0].problem(421, type="/problems/wrong-port")

    assert overlord.sync(SYNC) == ANSWER
    assert [len(server.requests) for server in servers] == [1, 1, 0]


def test_a_leader_that_is_not_configured_is_not_asked(servers: list[Server]) -> None:
    """Goal: a wrong answer cannot send the tasks' state and tokens elsewhere."""
    servers[0].problem(503, leader=servers[1].url)
    with HttpOverlord([servers[0].url]) as overlord, pytest.raises(OverlordUnavailable):
        overlord.sync(SYNC)

    assert servers[1].requests == []


def test_an_address_where_nobody_listens_is_passed_over(servers: list[Server]) -> None:
    servers[0].close()
    with HttpOverlord([servers[0].url, servers[1].url]) as overlord:
        assert overlord.sync(SYNC) == ANSWER
    servers[0].start()


def test_without_any_leader_the_trouble_of_each_address_is_named(
    servers: list[Server], overlord: HttpOverlord
) -> None:
    for number, server in enumerate(servers):
        server.problem(503, detail=f"follower {number}")

    with pytest.raises(OverlordUnavailable) as caught:
        overlord.sync(SYNC)

    assert all(f"follower {number}" in str(caught.value) for number in range(3))


def test_a_fenced_worker_is_told_so(servers: list[Server], overlord: HttpOverlord) -> None:
    servers[0].problem(409, type="/problems/worker-fenced", detail="incarnation 8 registered")

    with pytest.raises(Fenced, match="incarnation 8"):
        overlord.sync(SYNC)
    with pytest.raises(Fenced):
        overlord.publish(desired(), PUBLISH)
    with pytest.raises(Fenced):
        overlord.publish_compaction(compaction("c-1"), COMPACTED)
    assert servers[1].requests == []


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (409, b'{"type": "/problems/stale-commit", "detail": "no"}'),
        (403, b'{"error": "no"}'),
        (500, b"<html>no</html>"),
        (302, b"no"),
        (200, b"no"),
        (200, b'{"term": 1}'),
    ],
)
def test_what_is_no_answer_is_no_fact(
    servers: list[Server], overlord: HttpOverlord, status: int, body: bytes
) -> None:
    """Goal: doubt never ends a task; it is asked again."""
    servers[0].status, servers[0].body = status, body

    with pytest.raises(OverlordUnavailable):
        overlord.sync(SYNC)
    assert servers[1].requests == []


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b'{"type": "/problems/unusable-files", "detail": "a file is offered twice"}'),
        (404, b'{"type": "/problems/task-not-found", "detail": "no task"}'),
        (413, b'{"type": "/problems/body-too-large", "detail": "at most 16777216 bytes"}'),
        (413, b"<html>413 Request Entity Too Large</html>"),
        (409, b'{"type": "/problems/state-moved", "detail": "no"}'),
        (422, b"no"),
    ],
)
def test_what_is_refused_for_good_is_told_apart_from_no_answer(
    servers: list[Server], overlord: HttpOverlord, status: int, body: bytes
) -> None:
    """Goal: nobody repeats for ever what will never be taken; a sync alone is always repeated."""
    servers[0].status, servers[0].body = status, body

    with pytest.raises(OverlordRefused, match=f"{status}"):
        overlord.publish(desired(), PUBLISH)
    with pytest.raises(OverlordRefused):
        overlord.publish_compaction(compaction("c-1"), COMPACTED)
    with pytest.raises(OverlordRefused):
        overlord.answer_sample(sample("s-1"), SampleAnswer(sample_id="s-1", failure="no"))
    with pytest.raises(OverlordUnavailable):
        overlord.sync(SYNC)
    assert servers[1].requests == []


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, b'{"type": "/problems/unauthenticated", "detail": "say who you are"}'),
        (403, b'{"type": "/problems/not-allowed", "detail": "the token is not that of the task"}'),
        (404, b"<html>default backend</html>"),
        (405, b""),
        (408, b'{"type": "/problems/body-too-slow", "detail": "no"}'),
        (421, b'{"type": "/problems/wrong-port", "detail": "workers have a port of their own"}'),
        (429, b'{"type": "/problems/too-many-requests", "detail": "no"}'),
        (500, b'{"type": "/problems/internal", "detail": "a bug"}'),
        (302, b"no"),
    ],
)
def test_what_may_be_taken_later_is_no_refusal(
    servers: list[Server], overlord: HttpOverlord, status: int, body: bytes
) -> None:
    """Goal: a token in exchange, a busy overlord or a proxy without one ends no task."""
    servers[0].status, servers[0].body = status, body

    with pytest.raises(OverlordUnavailable):
        overlord.publish(desired(), PUBLISH)
    with pytest.raises(OverlordUnavailable):
        overlord.publish_compaction(compaction("c-1"), COMPACTED)


def test_a_dripping_answer_ends_in_time(servers: list[Server]) -> None:
    """Source: faults C10."""
    servers[0].drip = True
    with (
        HttpOverlord([servers[0].url], answer_s=0.3) as overlord,
        pytest.raises(OverlordUnavailable, match="not complete"),
    ):
        overlord.sync(SYNC.model_copy(update={"wait": timedelta(0)}))


def test_an_endless_answer_is_cut_off(servers: list[Server]) -> None:
    """Source: faults C10."""
    servers[0].body = b" " * 5_000
    with (
        HttpOverlord([servers[0].url], bytes_max=4_000) as overlord,
        pytest.raises(OverlordUnavailable, match="more than 4000 bytes"),
    ):
        overlord.sync(SYNC)
