"""Connections that are silent or too many, against a real server with small limits.

Source: half requests of one address, and silent sockets over TLS, that kept everybody out.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from structlog.testing import capture_logs

from tasks.runtime.http_guard import LOOP, QUIET_S, SeldomLog, guarded
from tests.tasks.runtime.test_java import certificate_and_key
from tests.waiting import wait_until

HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"
TOTAL, OF_ADDRESS = 6, 4
HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"


@dataclass
class Held:
    """A server whose answers at /held wait for the test."""

    port: int = 0
    release: threading.Event = field(default_factory=threading.Event)
    held: int = 0

    def connect(self, address: str = HERE, *, sending: bytes = HALF) -> socket.socket:
        connection = socket.create_connection(
            (HERE, self.port), timeout=10, source_address=(address, 0)
        )
        connection.sendall(sending)
        return connection

    def answers(self, address: str = HERE) -> bool:
        transport = httpx.HTTPTransport(local_address=address)
        with httpx.Client(transport=transport, base_url=f"http://{HERE}:{self.port}") as client:
            return client.get("/", timeout=10).status_code == httpx.codes.OK


@pytest.fixture
def served() -> Iterator[Held]:
    with serving() as held:
        yield held


@contextmanager
def serving(certificate: Path | None = None, key: Path | None = None) -> Iterator[Held]:
    held = Held()

    async def at_once(_: Request) -> PlainTextResponse:
        return PlainTextResponse("here")

    async def later(_: Request) -> PlainTextResponse:
        held.held += 1
        await run_in_threadpool(held.release.wait)
        return PlainTextResponse("released")

    app = Starlette(routes=[Route("/", at_once), Route("/held", later)])
    bound = socket.create_server((HERE, 0))
    held.port = bound.getsockname()[1]
    config = uvicorn.Config(
        app,
        log_config=None,
        http=guarded(TOTAL, OF_ADDRESS),
        loop=LOOP,
        ws="none",
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: server.run(sockets=[bound]), daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield held
    held.release.set()
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_half_requests_of_one_address_make_room_for_its_next_caller(served: Held) -> None:
    """Goal: the one that has been silent for longest goes, and the others stay."""
    with ExitStack() as open_until:
        half = [open_until.enter_context(served.connect()) for _ in range(OF_ADDRESS)]
        assert served.answers()
        assert is_closed(half[0])
        half[1].sendall(b"\r\n")
        assert half[1].recv(20).startswith(b"HTTP/1.1 200")


def test_one_address_leaves_places_to_the_others(served: Held) -> None:
    with ExitStack() as open_until:
        for _ in range(3 * OF_ADDRESS):
            open_until.enter_context(served.connect())
        assert served.answers(ELSEWHERE)


def test_who_comes_when_all_are_being_answered_is_closed(served: Held) -> None:
    """Goal: nothing that is under way is broken off for a newcomer."""
    request = b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n"
    with ExitStack() as open_until:
        held = [
            open_until.enter_context(served.connect(address, sending=request))
            for address in (HERE, HERE, HERE, ELSEWHERE, ELSEWHERE, ELSEWHERE)
        ]
        wait_until(lambda: served.held == TOTAL)
        assert is_closed(open_until.enter_context(served.connect()))
        served.release.set()
        assert all(each.recv(20).startswith(b"HTTP/1.1 200") for each in held)


def test_a_tls_handshake_that_never_comes_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: silent sockets do not use up the files of the process, and cost one line of log."""
    monkeypatch.setattr("tasks.runtime.http_guard.HEAD_S", 0.2)
    certificate, key = tmp_path / "server.crt", tmp_path / "server.key"
    for path, content in zip((certificate, key), certificate_and_key("localhost"), strict=True):
        path.write_bytes(content)

    with capture_logs() as lines, serving(certificate, key) as served, ExitStack() as open_until:
        silent = [open_until.enter_context(served.connect(sending=b"")) for _ in range(5)]
        assert all(map(is_closed, silent))

    assert len(lines) <= 1, lines


def test_the_same_trouble_is_logged_once_a_minute_with_its_number() -> None:
    now = 0.0
    seldom = SeldomLog(lambda: now)

    with capture_logs() as lines:
        for _ in range(5):
            seldom.warn("too many")
        seldom.warn("another")
        now = QUIET_S
        seldom.warn("too many")

    assert [(line["event"], line["times"]) for line in lines] == [
        ("too many", 1),
        ("another", 1),
        ("too many", 5),
    ]
