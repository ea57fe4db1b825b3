"""The workers' own port of a real overlord: who fills the public port keeps no worker away.

Source: 1,300 half requests after which syncs were answered with 503.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from supervisor.app.listening import CONNECTIONS_MAX
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.settings.settings import load_settings
from tasks.contract.messages import SyncRequest, SyncResponse
from tasks.runtime.http_guard import raise_file_limit
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.waiting import wait_until

pytestmark = pytest.mark.process

HALF = b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SYNC = SyncRequest(worker_id="w1", incarnation=1, sequence=1, url="http://127.0.0.1:1", slots=1)
SYNC_PATH = "/internal/v1/workers/w1/sync"


@pytest.fixture
def overlords(tmp_path: Path) -> Iterator[Overlords]:
    with Overlords(tmp_path, f"sqlite:///{tmp_path}/metadata.db") as overlords:
        yield overlords


def _start(overlords: Overlords) -> tuple[Overlord, str]:
    """Return one more overlord, and its address for workers."""
    port = free_port()
    overlord = overlords.start(TIDEGATE_INTERNAL_PORT=str(port))
    return overlord, f"http://{LOOPBACK}:{port}"


def _sync(address: str) -> httpx.Response:
    headers = {"Content-Type": "application/json"}
    return httpx.post(f"{address}{SYNC_PATH}", content=SYNC.to_json(), headers=headers, timeout=30)


def test_a_full_public_port_keeps_no_worker_away(overlords: Overlords) -> None:
    overlord, for_workers = _start(overlords)
    wait_until(overlord.leads)
    of_address = load_settings().connections_per_address
    raise_file_limit()

    with ExitStack() as open_until:
        for number in range(CONNECTIONS_MAX):
            source = (f"127.0.0.{2 + number // of_address}", 0)
            half = socket.create_connection((LOOPBACK, overlord.port), 30, source)
            open_until.enter_context(half).sendall(HALF)
        answer = _sync(for_workers)

    assert answer.status_code == httpx.codes.OK, answer.text
    assert SyncResponse.from_json(answer.content).tasks == ()


def test_each_port_refuses_what_the_other_serves(overlords: Overlords) -> None:
    """Goal: a firewall around one port is a firewall around what it serves."""
    overlord, for_workers = _start(overlords)
    wait_until(overlord.leads)

    refused = {
        path: httpx.request(method, f"{address}{path}", json={})
        for address, method, path in (
            (overlord.url, "POST", SYNC_PATH),
            (overlord.url, "POST", "/internal/v1/no-such"),
            (for_workers, "GET", "/status"),
            (for_workers, "GET", "/status/health"),
            (for_workers, "GET", "/openapi.json"),
            (for_workers, "POST", SUPERVISORS),
        )
    }

    assert {answer.status_code for answer in refused.values()} == {421}
    for answer in refused.values():
        assert answer.json()["type"] == "/problems/wrong-port"
        assert "TIDEGATE_INTERNAL_PORT" in answer.json()["detail"]


def test_a_follower_sends_workers_and_people_to_different_ports_of_the_leader(
    overlords: Overlords,
) -> None:
    """Goal: the leader's address in the lease is that for people, as older overlords read it."""
    leader, for_workers = _start(overlords)
    wait_until(leader.leads)
    follower, followers_for_workers = _start(overlords)
    wait_until(lambda: follower.http.get("/druid/indexer/v1/leader").text == leader.url)

    worker = _sync(followers_for_workers)
    person = follower.http.post(f"{SUPERVISORS}/none/suspend", follow_redirects=False)

    assert (worker.status_code, worker.json()["leader"]) == (503, for_workers)
    assert person.status_code == httpx.codes.TEMPORARY_REDIRECT
    assert person.headers["location"] == f"{leader.url}{SUPERVISORS}/none/suspend"


def test_an_overlord_without_the_setting_serves_both_on_one_port(overlords: Overlords) -> None:
    overlord = overlords.start()
    wait_until(overlord.leads)

    assert _sync(overlord.url).status_code == httpx.codes.OK
    assert overlord.http.get("/status").status_code == httpx.codes.OK
