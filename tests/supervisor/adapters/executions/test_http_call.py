"""The `http` verb against a real server: what is sent, what is kept, what fails and how."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import pytest
from pydantic import JsonValue

from supervisor.adapters.executions.http.call import ANSWER_BYTES_MAX, SIZED_BYTES_MAX, HttpCalls
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded
from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.errors import SecretMissing
from tasks.contract.connection_policy import SecretBinding
from tasks.contract.kafka_client import SecretRef
from tests.supervisor.adapters.executions.sink import Sink, a_sink
from tests.waiting import wait_until

_SECRET = "correct horse battery"
_BACKLOG_FILLED = 4
"""Connections that fill a backlog of 0; Linux takes one more than the backlog."""


def _read(reference: SecretRef) -> str:
    if reference.environment != "TIDEGATE_SECRET_HOOK":
        raise SecretMissing(f"{reference.environment} is not set")
    return _SECRET


VERB = HttpCalls((), _read, {})


@pytest.fixture
def sink() -> Iterator[Sink]:
    with a_sink() as running:
        yield running


def _call(verb: HttpCalls = VERB, *, effect: int = 1, **arguments: JsonValue) -> Outcome:
    call = StepCall("e1", "r1", "tell", 1, effect, "http", arguments)
    return verb(call, threading.Event())


def _failure(outcome: Outcome) -> tuple[str, bool, bool]:
    assert isinstance(outcome, Fails), outcome
    error = outcome.error
    return error.code, error.passes, error.known


def test_a_request_has_its_body_its_key_and_its_secret(sink: Sink) -> None:
    outcome = _call(
        method="POST",
        url=sink.url("/x?y=1"),
        headers={"Authorization": {"secret": "TIDEGATE_SECRET_HOOK"}, "X-Day": "mon"},
        body={"rows": 7},
        effect=2,
    )
    assert outcome == Succeeded({"status": 200, "body": {"rows": 3}})
    [sent] = sink.ledger
    assert (sent.method, sent.path, sent.body) == ("POST", "/x?y=1", b'{"rows": 7}')
    assert sent.headers["Idempotency-Key"] == "e1/r1/2"
    assert (sent.headers["Authorization"], sent.headers["X-Day"]) == (_SECRET, "mon")
    assert sent.headers["Host"] == f"127.0.0.1:{sink.port}"


@pytest.mark.parametrize(
    ("status", "passes", "known"),
    [(400, False, True), (404, False, True), (429, True, True), (500, True, False)],
)
def test_a_refusal_says_whether_it_may_pass_and_whether_anything_was_done(
    sink: Sink, status: int, passes: bool, known: bool
) -> None:
    sink.answer = lambda _: (status, {}, b"no: \xff")
    outcome = _call(url=sink.url())
    assert _failure(outcome) == (f"http-{status}", passes, known)
    assert isinstance(outcome, Fails)
    assert "no:" in outcome.error.message


def test_a_redirect_is_not_followed(sink: Sink) -> None:
    sink.answer = lambda _: (302, {"Location": "http://169.254.169.254/"}, b"")
    assert _failure(_call(url=sink.url())) == ("redirect", False, True)
    assert len(sink.ledger) == 1


def test_of_a_large_answer_the_size_is_an_output_too_and_a_huge_one_fails(sink: Sink) -> None:
    size = SIZED_BYTES_MAX + 1
    sink.answer = lambda _: (200, {}, b"x" * size)
    assert _call(url=sink.url()) == Succeeded({"status": 200, "bytes": size, "body": "x" * size})
    sink.answer = lambda _: (200, {}, b"x" * (ANSWER_BYTES_MAX + 1))
    assert _failure(_call(url=sink.url()))[0] == "answer-too-large"


def test_nobody_there_is_known_to_have_done_nothing() -> None:
    with a_sink() as gone:
        url = gone.url()
    assert _failure(_call(url=url)) == ("unreachable", True, True)


def test_a_name_is_resolved_once_and_its_address_is_the_one_that_was_looked_at(sink: Sink) -> None:
    """Goal: an answer of the DNS that changes leads nowhere else."""
    asked: list[str] = []

    def resolve(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    verb = replace(VERB, allow=("localhost",), resolve=resolve)
    assert isinstance(_call(verb, url=sink.url(host="localhost")), Succeeded)
    assert asked == ["localhost"]


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("http://evil.example/", ["93.184.216.34"]),
        ("http://hooks.example/", ["169.254.169.254"]),
        ("http://hooks.example/", ["93.184.216.34", "127.0.0.1"]),
        ("http://hooks.example/", ["fe80::1%eth0"]),
        ("http://hooks.example/", ["::ffff:127.0.0.1"]),
        ("http://hooks.example/", ["64:ff9b::7f00:1"]),
        ("http://hooks.example@169.254.169.254/", ["169.254.169.254"]),
    ],
)
def test_what_is_not_allowed_is_never_connected_to(url: str, addresses: list[str]) -> None:
    verb = replace(VERB, allow=("hooks.example",), resolve=lambda _, __: addresses)
    assert _failure(_call(verb, url=url)) == ("refused", False, True)


def test_a_secret_goes_only_where_its_operator_says(sink: Sink) -> None:
    bound = {"TIDEGATE_SECRET_HOOK": SecretBinding(hosts=("hooks.example",))}
    headers: JsonValue = {"Authorization": {"secret": "TIDEGATE_SECRET_HOOK"}}
    refused = _call(replace(VERB, bindings=bound), url=sink.url(), headers=headers)
    missing = _call(url=sink.url(), headers={"A": {"secret": "TIDEGATE_SECRET_NONE"}})
    for outcome in (refused, missing):
        assert _failure(outcome)[0] == "refused"
        assert _SECRET not in str(outcome)
    assert sink.ledger == []


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding"])
def test_a_header_of_the_call_itself_is_refused(sink: Sink, name: str) -> None:
    assert _failure(_call(url=sink.url(), headers={name: "x"}))[0] == "refused"


def test_a_call_that_is_cancelled_stops(sink: Sink) -> None:
    cancel = threading.Event()
    cancel.set()
    call = StepCall("e1", "r1", "tell", 1, 1, "http", {"url": sink.url()})
    assert VERB(call, cancel) == Stopped()


@contextmanager
def _dripping(head: bytes) -> Iterator[int]:
    """Answer with a head at once, and with a byte now and then for as long as somebody listens."""
    ending = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError), server.accept()[0] as line:
                line.recv(65_536)
                line.sendall(head)
                while not ending.wait(0.02):
                    line.sendall(b"x")

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        ending.set()
        thread.join()


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"]
)
def test_a_server_that_drips_holds_no_call(head: bytes) -> None:
    """Goal: neither its time nor a cancel waits for it, in the head of an answer or its body."""
    with _dripping(head) as port:
        outcome = _call(replace(VERB, within_s=0.3), url=f"http://127.0.0.1:{port}/")
    assert _failure(outcome) == ("no-answer", True, False)
    assert "within 0 s" in str(outcome)
    cancel = threading.Event()
    with _dripping(head) as port:
        call = StepCall("e1", "r1", "tell", 1, 1, "http", {"url": f"http://127.0.0.1:{port}/"})
        threading.Timer(0.3, cancel.set).start()
        assert VERB(call, cancel) == Stopped()


@contextmanager
def _never_connecting() -> Iterator[int]:
    """Listen with a backlog that is full: whoever connects waits for an answer to its SYN."""
    with socket.socket() as server, ExitStack() as kept:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        port = server.getsockname()[1]
        for _ in range(_BACKLOG_FILLED):
            line = kept.enter_context(socket.socket())
            line.setblocking(False)
            with suppress(BlockingIOError):
                line.connect(("127.0.0.1", port))
        yield port


def _cancelled(verb: HttpCalls, url: str, begun: threading.Event | None = None) -> Outcome:
    """Return what a call gives that is cancelled soon; it has to give it long before its bounds."""
    cancel = threading.Event()
    call = StepCall("e1", "r1", "tell", 1, 1, "http", {"url": url})
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(verb, call, cancel)
        if begun is not None:
            assert begun.wait(30)
        cancel.set()
        return making.result(timeout=2.0)


def test_a_cancel_does_not_wait_for_a_connection() -> None:
    """Goal: a server that takes no connection holds no call; connecting has 5 s by itself."""
    with _never_connecting() as port:
        url = f"http://127.0.0.1:{port}/"
        began = threading.Event()

        def resolve(_: str, __: int) -> list[str]:
            began.set()
            return ["127.0.0.1"]

        assert _cancelled(replace(VERB, resolve=resolve), url, began) == Stopped()


def test_a_cancel_does_not_wait_for_a_name_and_nothing_is_sent_later(sink: Sink) -> None:
    """Goal: a resolver that hangs holds no call, and its late answer leads nowhere."""
    began, goes_on, gone_on = threading.Event(), threading.Event(), threading.Event()

    def resolve(_: str, __: int) -> list[str]:
        began.set()
        goes_on.wait(60)
        gone_on.set()
        return ["127.0.0.1"]

    verb = replace(VERB, allow=("localhost",), resolve=resolve)
    try:
        assert _cancelled(verb, sink.url(host="localhost"), began) == Stopped()
    finally:
        goes_on.set()
    assert gone_on.wait(30)
    wait_until(lambda: not _making())
    assert sink.ledger == []


def test_a_name_that_is_never_resolved_has_its_time_too() -> None:
    """Goal: nothing was sent, so that a retry may take the next effect."""
    goes_on = threading.Event()

    def resolve(_: str, __: int) -> list[str]:
        goes_on.wait(60)
        return ["127.0.0.1"]

    try:
        outcome = _call(replace(VERB, resolve=resolve, within_s=0.2), url="http://localhost:1/")
    finally:
        goes_on.set()
    assert _failure(outcome) == ("unreachable", True, True)


def _making() -> list[str]:
    names = [each.name for each in threading.enumerate()]
    return [name for name in names if name.startswith("step-http")]
